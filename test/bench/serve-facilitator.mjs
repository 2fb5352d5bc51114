// An official facilitator behind express, as a resource server asks it; without authentication and limits. Prints its port.
import express from 'express';

export function serve(facilitator, acts) {
  const app = express().use(express.json());
  for (const act of acts)
    app.post(`/${act}`, async ({ body: { paymentPayload, paymentRequirements } }, response) => {
      response.json(await facilitator[act](paymentPayload, paymentRequirements).catch(() => ({ success: false })));
    });
  const server = app.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
}
