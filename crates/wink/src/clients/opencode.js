// Written by `wink setup opencode --hooks`; `wink setup opencode --undo` removes it.
// Tells wink of prompts, calls and ends of turns, so that it takes snapshots. It never stops the agent.
import { spawn } from "node:child_process";

const program = "wink";

const contextIn = (said) => {
  try {
    return JSON.parse(said).hookSpecificOutput?.additionalContext;
  } catch {
    return undefined; // It has nothing to say.
  }
};

export const Wink = async ({ directory }) => {
  // Returns what the agent should be told, if anything.
  const tell = (event) =>
    new Promise((done) => {
      const child = spawn(program, ["hook", "opencode"], { cwd: directory, stdio: ["pipe", "pipe", "ignore"] });
      let said = "";
      child.stdout.on("data", (part) => (said += part));
      child.on("error", () => done());
      child.on("close", () => done(contextIn(said)));
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify({ directory, ...event }));
    });
  return {
    "chat.message": async (input, output) => {
      const [first] = output.parts ?? [];
      const prompt = { message: { id: output.message?.id }, parts: first ? [first] : [] };
      const text = await tell({ hook: "chat.message", input, output: prompt });
      if (text && first) output.parts.push({ ...first, id: `${first.id}w`, type: "text", text, synthetic: true });
    },
    "tool.execute.before": async (input, output) => {
      await tell({ hook: "tool.execute.before", input: { ...input, args: output.args } });
    },
    "tool.execute.after": async (input) => {
      await tell({ hook: "tool.execute.after", input });
    },
    event: async ({ event }) => {
      if (event.type === "session.idle") await tell(event);
    },
  };
};
