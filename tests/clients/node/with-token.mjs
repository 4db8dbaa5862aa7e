// Stands before a server and adds the token that a client cannot be told to send.
//
// Usage: with-token.mjs URL TOKEN. Prints its own address. What is addressed to it is sent on as if it
// were addressed to the server; a foreign Host or Origin stays as it is, for the server to judge.

import http from 'node:http';

const [target, token] = [new URL(process.argv[2]), process.argv[3]];

const proxy = http.createServer((request, response) => {
  const own = `127.0.0.1:${proxy.address().port}`;
  const renamed = (value) => value?.replace(own, target.host).replace(own.replace('127.0.0.1', 'localhost'), target.host);
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  for (const name of ['host', 'origin']) {
    if (headers[name] !== undefined) headers[name] = renamed(headers[name]);
  }
  const { hostname, port } = target;
  const onward = http.request({ hostname, port, method: request.method, path: request.url, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  request.pipe(onward);
});

proxy.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${proxy.address().port}`));
