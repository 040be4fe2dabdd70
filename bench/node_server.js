// node_server.js ADDRESS [WORKERS]: answers with its process number; "/spin/N" computes for N
// microseconds before. With WORKERS, so many of node's cluster module, else this process alone.
const cluster = require('node:cluster');
const http = require('node:http');

const [host, port] = process.argv[2].split(':');
const workers = Number(process.argv[3] ?? 0);

function spin(microseconds) {
  const end = process.hrtime.bigint() + BigInt(microseconds) * 1000n;
  while (process.hrtime.bigint() < end);
}

function answer(request, response) {
  const [, what, amount] = request.url.split('/');
  if (what === 'spin') spin(Number(amount));
  const body = `${process.pid}\n`;
  response.writeHead(200, {'Content-Length': body.length});
  response.end(body);
}

if (workers > 0 && cluster.isPrimary) {
  for (let i = 0; i < workers; i++) cluster.fork();
} else {
  http.createServer(answer).listen({host, port: Number(port), backlog: 4096});
}
