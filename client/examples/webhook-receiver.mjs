// Receives webhooks with Express 5.
//   PETSTORE_WEBHOOK_SECRET=whsec_… PORT=3000 node webhook-receiver.mjs
import express from "express";
import { stringify, verifyWebhook, WebhookVerificationError } from "petstore-client";

const secret = process.env.PETSTORE_WEBHOOK_SECRET;
const app = express();

// The signature covers the bytes as they were sent, so no parser may come before.
// oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Express 5 handles the errors of async handlers
app.post("/webhooks", express.raw({ type: "*/*" }), async (request, response) => {
  try {
    const { id, type, data } = await verifyWebhook(request.body, request.headers, secret);
    // The service may send a message again, with the same id.
    console.log(`${id}: ${type}`);
    // Ids are bigints, for which JSON.stringify throws an error. `stringify` writes all of their digits.
    response.type("json").send(stringify({ seen: data.subject }));
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    response.status(400).send(error.message);
  }
});

const server = app.listen(process.env.PORT ?? 3000, "127.0.0.1", () => {
  console.log(`Listening on port ${server.address().port}`);
});
