// Buys what is sold at a url: node buyer.mjs http://127.0.0.1:4021/report. BUYER_KEY is the private key of an address with USDC.
import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';

const [, , url] = process.argv;
const account = privateKeyToAccount(process.env.BUYER_KEY);

const unpaid = await fetch(url);
const [{ amount, asset, payTo }] = decodePaymentRequiredHeader(unpaid.headers.get('PAYMENT-REQUIRED')).accepts;
console.log(`without a payment: ${unpaid.status}, ${amount} units of ${asset} to ${payTo} are asked`);

const client = new x402Client().register('eip155:*', new ExactEvmScheme(account));
const paid = await wrapFetchWithPayment(fetch, client)(url);
const settled = paid.headers.get('PAYMENT-RESPONSE');
console.log(`with a payment from ${account.address}: ${paid.status}, ${await paid.text()}`);
if (settled) console.log(`settled: ${JSON.stringify(decodePaymentResponseHeader(settled))}`);
if (!paid.ok) process.exitCode = 1;
