// A webhook endpoint that verifies with a library from npm: node endpoint.mjs LIBRARY.
// WEBHOOK_SECRET is the secret that POST /webhook-secrets returned.
import { createServer } from "node:http";

const { Webhook } = await import(process.argv[2]); // standardwebhooks or svix
const webhook = new Webhook(process.env.WEBHOOK_SECRET);

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    try {
      webhook.verify(Buffer.concat(chunks).toString(), request.headers);
      response.writeHead(204).end();
    } catch (error) {
      response.writeHead(401).end(error.message);
    }
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
