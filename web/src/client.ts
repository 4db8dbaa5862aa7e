// Requests to the server, and the stream of what happens there.

export class ApiError extends Error {
  status: number;
  code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export type Query = Record<string, string | number | boolean | undefined | null>;

/** Makes an address below the API, with what is not empty of the query. */
export function address(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return `/api/v1${path}${text === '' ? '' : `?${text}`}`;
}

async function failed(response: Response): Promise<ApiError> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string } };
    return new ApiError(response.status, error.code, error.message);
  } catch {
    return new ApiError(response.status, String(response.status), text.trim() || response.statusText);
  }
}

export async function request(path: string, query?: Query, init?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address(path, query), init);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, 'away', 'The server does not answer.');
  }
  if (!response.ok) throw await failed(response);
  return response;
}

export async function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return (await request(path, query, { signal: signal ?? null })).json() as Promise<T>;
}

export async function post<T>(path: string, body: unknown): Promise<T> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  return (await request(path, {}, init)).json() as Promise<T>;
}

/** Names a run in a path. */
export function runPath(run: string, rest = ''): string {
  return `/runs/${encodeURIComponent(run)}${rest}`;
}
