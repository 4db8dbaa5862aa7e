// Written by `wink setup opencode --hooks`; `wink setup opencode --undo` removes it.
// Tells wink of prompts, calls and ends of turns, so that it takes snapshots. It never stops the agent.
import { spawn } from "node:child_process";

const program = "wink";

export const Wink = async ({ directory }) => {
  const tell = (event) =>
    new Promise((done) => {
      const child = spawn(program, ["hook", "opencode"], { cwd: directory, stdio: ["pipe", "ignore", "ignore"] });
      child.on("error", done);
      child.on("close", done);
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify({ directory, ...event }));
    });
  return {
    "chat.message": (input, output) =>
      tell({ hook: "chat.message", input, output: { message: { id: output.message?.id }, parts: output.parts?.slice(0, 1) } }),
    "tool.execute.before": (input, output) =>
      tell({ hook: "tool.execute.before", input: { ...input, args: output.args } }),
    "tool.execute.after": (input) => tell({ hook: "tool.execute.after", input }),
    event: async ({ event }) => {
      if (event.type === "session.idle") await tell(event);
    },
  };
};
