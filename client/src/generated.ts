// Made by `npm run client:generate` from the document that the API serves: do not edit.
export interface paths {
    "/auth/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get an access token
         * @description More than ten failures per minute from one address or with one key are refused with 429. The body is ignored.
         */
        post: operations["createToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List wallets, newest first */
        get: operations["listWallets"];
        put?: never;
        /**
         * Create a wallet
         * @description The wallet is usable once status and key_status are ACTIVE: three signing nodes generate its key first. 503 `unavailable` when too many wallets wait for their key.
         */
        post: operations["createWallet"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a wallet */
        get: operations["getWallet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets/{id}/attestations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what the signing nodes attest about the key of a wallet
         * @description Each node has signed that the key with this public key and chain code is bound to this wallet and client. Verify the signatures with the public keys that the operators of the nodes have given you: see docs/integration.md.
         */
        get: operations["getWalletAttestations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List accounts, newest first */
        get: operations["listAccounts"];
        put?: never;
        /**
         * Create an account: an address on a chain
         * @description The wallet has to be ACTIVE. An account on ethereum, bsc, polygon, arbitrum, optimism, avalanche or base holds assets on all of these. On some chains each account has a key of its own: the request then waits up to 10 seconds for the signing nodes to generate it, and with a node down the answer is 503 `unavailable` and nothing is created.
         */
        post: operations["createAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an account */
        get: operations["getAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{id}/attestations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what the signing nodes attest about the key of an account
         * @description Where each account has a key of its own, each node has signed that the key is bound to this account, wallet and client; elsewhere it is the key of the wallet, of which the account has a child. Verify the signatures with the public keys that the operators of the nodes have given you: see docs/integration.md.
         */
        get: operations["getAccountAttestations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/chains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the enabled chains with their tokens, depths, limits and fees */
        get: operations["listChains"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List assets, newest first
         * @description Also lists native coins with a balance that were not added.
         */
        get: operations["listAssets"];
        put?: never;
        /**
         * Add an asset to an account
         * @description Contract, decimals and type come from the chain registry. Earlier deposits are shown immediately.
         */
        post: operations["addAsset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an asset */
        get: operations["getAsset"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/transfer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a transfer: lock the amount and start signing
         * @description Send an Idempotency-Key: a retry with the same key never pays twice, without a time limit. The network fee is paid by the source account in the native coin and locked in addition to the amount.
         */
        post: operations["createTransfer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/transfer/estimate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say what a transfer would take, and whether it would be accepted
         * @description The body of POST /transfer. Nothing is stored, locked or started, and another transfer or a change of fees can make the answer out of date at once. What has no asset to transfer from is refused as POST /transfer refuses it; any other refusal is `refusal` of the answer.
         */
        post: operations["estimateTransfer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/transactions/{tx_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a transfer before its signing has begun */
        post: operations["cancelTransaction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/transactions/{tx_id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve a transfer that is AWAITING_APPROVAL
         * @description With the whitelist policy `approve` a transfer to an address that is not on the whitelist waits for this, at most until `approval.expires_at`; then it is REJECTED. Any user of the client with a second factor may approve, but the user who requested the transfer only if no other user could, or if the policy of the client allows it.
         */
        post: operations["approveTransaction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List transfers that wait for an approval, newest first
         * @description Filters, pages and cursor are those of GET /transactions.
         */
        get: operations["listApprovals"];
        put?: never;
        /**
         * Approve and reject transfers that are AWAITING_APPROVAL, up to 100 with one code
         * @description Each decision is carried out or refused for itself, and `results` says which: the answer is 200 also when all of them were refused. An approval is that of POST /transactions/{tx_id}/approve. A rejected transfer is REJECTED with `approval_rejected`, and its funds are unlocked; who requested it may reject it too. A transfer that was decided in the same way before is no error. Any other answer than 200 means that nothing was decided, except 503 `outcome_unknown` and the 409 of a code that has decided the same before. Send an Idempotency-Key: a retry with the same key and body gets the first answer again.
         */
        post: operations["decideApprovals"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/transactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List transactions, newest first
         * @description Several filters together: transactions that have all of it. By cursor (`next`, then `after`) a list is read without repeats and without gaps, also while transactions arrive.
         */
        get: operations["listTransactions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/transactions/{tx_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a transaction with its timeline and, while it is in progress, its live state */
        get: operations["getTransaction"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/client/security-factors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List white- and blacklisted addresses, newest first
         * @description A page has up to 1000 entries, a client up to 10000: where total is larger, request the next page. All operations on security factors are also available below /v1/client.
         */
        get: operations["listSecurityFactors"];
        put?: never;
        /**
         * Add an address to the white- or blacklist
         * @description The lists apply to all users, wallets and accounts of the client. An inactive entry for the same address does not conflict.
         */
        post: operations["createSecurityFactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/client/security-factors/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete and add entries, up to 100 together with one code
         * @description Each change is carried out or refused for itself, as the routes for a single one do, and the answer says which: it is 200 also when all of them were refused. Any other answer means that nothing was changed, except 503 `outcome_unknown` and the 409 of a code that has carried out the same before. Send an Idempotency-Key: a retry with the same key and body gets the first answer again.
         */
        post: operations["changeSecurityFactors"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/client/security-factors/{factor_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an entry */
        get: operations["getSecurityFactor"];
        put?: never;
        post?: never;
        /** Delete an entry; its address can be added again */
        delete: operations["deleteSecurityFactor"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/client/security-factors/{factor_id}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Activate or deactivate an entry
         * @description Setting the current status again is not an error.
         */
        put: operations["setSecurityFactorStatus"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List webhooks, newest first */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Create a webhook: events are sent to a url
         * @description Requests are signed according to Standard Webhooks; the secret is shown in this response only. At most 10 per client.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a webhook */
        get: operations["getWebhook"];
        /**
         * Change a webhook
         * @description Omitted fields keep their values.
         */
        put: operations["updateWebhook"];
        post?: never;
        /** Delete a webhook with its secrets and its deliveries */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the signing secret
         * @description Until the overlap ends, requests carry one signature for each of the two secrets.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a webhook.test event
         * @description Refused (business_error) while the webhook is disabled or 200 test events are pending.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries with their attempts, newest event first
         * @description Kept for 30 days.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/deliveries/{delivery_id}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resend a delivery
         * @description With the same event id; the retry schedule starts again. One that waits for its next retry is attempted now.
         */
        post: operations["resendWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/resend-failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resend all failed deliveries of events since a given time */
        post: operations["resendFailedWebhookDeliveries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/x402/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a signed payment
         * @description Whether the payment would be settled now. Any JSON of at most 2,000 values in 32 levels is answered 200: what is wrong with it is the reason. Nothing is stored, and nothing is sent to the chain.
         */
        post: operations["verifyPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/x402/settle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Execute a signed payment
         * @description Verifies the payment and executes it on the chain; answered once a block contains it. Any JSON of at most 2,000 values in 32 levels is answered 200: what is wrong with it is the reason. A payment is settled once: the same request gets the same answer again, another one `duplicate_settlement`. `settlement_pending` is not an end: repeat the request.
         */
        post: operations["settlePayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/x402/supported": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What can be settled for the calling client */
        get: operations["listSupportedPayments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/x402/sign": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Authorise a payment from one of your accounts
         * @description Signs what a resource server asks for in its response 402, by EIP-3009 or Permit2, on Solana by a transaction of which somebody else pays the fee. The same limits, lists and approvals hold as for a transfer. The amount is locked until the payment is carried out, or can be no more. Send an Idempotency-Key: a retry with the same key never pays twice.
         */
        post: operations["signPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/x402/sign/{tx_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A payment that you have authorised, with its signature */
        get: operations["getSignedPayment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the process is running */
        get: operations["getLive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the database and the workflow service are available */
        get: operations["getReady"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "wallet.active": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A wallet can be used */
        post: operations["on_wallet_active"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "transaction.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A transfer was accepted; its funds are locked */
        post: operations["on_transaction_created"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "transaction.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A transfer, or a deposit that a reorganisation took back, changed its status */
        post: operations["on_transaction_updated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "transaction.needs_attention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** It waits for an operator; its funds stay locked */
        post: operations["on_transaction_needs_attention"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "deposit.detected": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A deposit was seen, perhaps before a block holds it */
        post: operations["on_deposit_detected"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "deposit.confirmed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A deposit was credited */
        post: operations["on_deposit_confirmed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "security_factor.changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An entry of the address lists was changed */
        post: operations["on_security_factor_changed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.disabled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Another of your webhooks was disabled */
        post: operations["on_webhook_disabled"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sent to one endpoint by POST /webhooks/{id}/test */
        post: operations["on_webhook_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        Token: {
            /** @description JWT access token */
            token: string;
            /** @constant */
            token_type: "Bearer";
            /** @description Seconds until it expires; there are no refresh tokens: request another token */
            expires_in: number;
        };
        CreateWalletRequest: {
            wallet_name: string;
            description?: string | null;
            /**
             * @description What you call the wallet: no other one of yours may have it (409 external_id_in_use). GET /wallets finds it by this
             * @example order-4711
             */
            external_id?: string;
        };
        /** @enum {string} */
        WalletStatus: "PROGRESSING" | "ACTIVE" | "SUSPENDED";
        /** @enum {string} */
        KeyStatus: "GENERATING" | "ACTIVE" | "UNVERIFIED";
        Wallet: {
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            wallet_id: string;
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            client_id: string;
            wallet_name: string;
            description: string | null;
            /** @description As given when it was created */
            external_id: string | null;
            status: components["schemas"]["WalletStatus"];
            /** @description UNVERIFIED: the signing nodes do not attest the key; status is then SUSPENDED */
            key_status: components["schemas"]["KeyStatus"];
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            updated_at: string;
        };
        WalletPage: {
            data: components["schemas"]["Wallet"][];
            /** @description Total number of items */
            total: number;
            /** @description True when there are items beyond this page */
            has_more: boolean;
        };
        KeyAttestation: {
            node: number;
            /** @description JSON, exactly as signed: node, key_id, wallet_id, client_id, protocol, public_key, chain_code; account_id too for a key of a single account */
            statement: string;
            /** @description Base64; ECDSA (P-256, SHA-256, IEEE P1363) over "custody-gateway/mpc/key/v1", a NUL byte and the statement */
            signature: string;
            /** @description The node's identity as this gateway knows it, PEM (SPKI) */
            public_key: string;
        };
        WalletAttestations: {
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            wallet_id: string;
            /** @description One of each signing node; none before the wallet has its key */
            attestations: components["schemas"]["KeyAttestation"][];
        };
        CreateAccountRequest: {
            wallet_id: string;
            /** @example ethereum */
            chain: string;
            label?: string | null;
            /**
             * @description What you call the account: no other one of yours may have it (409 external_id_in_use). GET /accounts finds it by this
             * @example order-4711
             */
            external_id?: string;
        };
        /** @enum {string} */
        AccountStatus: "ACTIVE" | "INACTIVE";
        Account: {
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            account_id: string;
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            wallet_id: string;
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            client_id: string;
            address: string;
            chain: string;
            network: string;
            /** @constant */
            address_type: "INBOUND";
            status: components["schemas"]["AccountStatus"];
            label: string | null;
            /** @description As given when it was created */
            external_id: string | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            created_at: string;
        };
        ListedAccount: {
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            account_id: string;
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            wallet_id: string;
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            client_id: string;
            /** @description null: the stored address is not the one that the signing nodes attest; do not use one */
            address: string | null;
            chain: string;
            network: string;
            /** @constant */
            address_type: "INBOUND";
            status: components["schemas"]["AccountStatus"];
            label: string | null;
            /** @description As given when it was created */
            external_id: string | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            created_at: string;
        };
        AccountPage: {
            data: components["schemas"]["ListedAccount"][];
            /** @description Total number of items */
            total: number;
            /** @description True when there are items beyond this page */
            has_more: boolean;
        };
        AccountAttestations: {
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            account_id: string;
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            wallet_id: string;
            /** @description Of the key, as in the statements */
            key_protocol: string;
            /** @description Non-hardened BIP-32 path below the wallet's key; `m` for a key of the account's own */
            derivation_path: string;
            /** @description One of each signing node */
            attestations: components["schemas"]["KeyAttestation"][];
        };
        /** @enum {string} */
        AssetType: "NATIVE" | "ERC20" | "BEP20" | "TRC20" | "SPL";
        ChainToken: {
            symbol: string;
            name: string;
            decimals: number;
            asset_type: components["schemas"]["AssetType"];
            /** @description null: the native coin */
            contract_address: string | null;
            /**
             * @description Highest network fee that a usual transfer of it would lock now, of the native coin in display units; POST /transfer/estimate has that of one transfer. null: the fees of the chain are not known at the moment
             * @example 1.5
             */
            network_fee: string | null;
        };
        Coins: {
            /**
             * @description Decimal string, display units
             * @example 1.5
             */
            amount: string;
            symbol: string;
        };
        Chain: {
            /** @description Its name in requests */
            chain: string;
            network: string;
            /** @description CAIP-2 identifier */
            caip2: string;
            /** @description The coin that network fees are paid in */
            native: components["schemas"]["ChainToken"];
            /** @description What can be added to an account beside the native coin */
            tokens: components["schemas"]["ChainToken"][];
            /** @description Depth at which a transfer is CONFIRMED and a deposit is credited; 1 for the newest block */
            required_confirmations: number;
            /** @description Usual time between two blocks */
            block_time_ms: number;
            /** @description No transaction costs more than this */
            max_network_fee: components["schemas"]["Coins"];
            /** @description Smallest transfer of the native coin that every address can be paid; less is refused to some. null: there is no such limit. The largest amounts are limits of a wallet, which an operator sets */
            minimum_amount: components["schemas"]["Coins"] | null;
            /** @description What an account that has paid a fee keeps at least, because the chain demands it; null: nothing */
            minimum_balance: components["schemas"]["Coins"] | null;
            /** @description Transfers may have on_chain_memo */
            on_chain_memo: boolean;
            /** @description Transfers may have allow_program_address */
            allow_program_address: boolean;
            /** @description Page of a transaction at an explorer, with {hash} for its hash */
            explorer_tx_url: string | null;
        };
        Chains: {
            data: components["schemas"]["Chain"][];
        };
        /** @enum {string} */
        AssetSymbol: "ETH" | "TRX" | "USDT" | "USDC" | "BNB" | "MATIC" | "BTC" | "SOL";
        AddAssetRequest: {
            account_id: string;
            symbol: components["schemas"]["AssetSymbol"];
            /**
             * @description Required for accounts whose address exists on several chains (ethereum, bsc, …), omitted for all others
             * @example ethereum
             */
            chain?: string;
        };
        Asset: {
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            asset_id: string;
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            account_id: string;
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            wallet_id: string;
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            client_id: string;
            chain: string;
            network: string;
            symbol: string;
            name: string;
            decimals: number;
            asset_type: components["schemas"]["AssetType"];
            /**
             * @description Available balance, display units
             * @example 1.5
             */
            balance: string;
            /**
             * @description Locked by transfers in progress, display units
             * @example 1.5
             */
            locked_balance: string;
            is_active: boolean;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            created_at: string;
            /** @description null for native coins */
            contract_address: string | null;
        };
        AssetPage: {
            data: components["schemas"]["Asset"][];
            /** @description Total number of items */
            total: number;
            /** @description True when there are items beyond this page */
            has_more: boolean;
        };
        CreateTransferRequest: {
            /** @description Address of one of your accounts */
            from_address: string;
            /** @description Must differ from from_address */
            to_address: string;
            /** @example ethereum */
            chain: string;
            /** @example USDC */
            token_symbol: string;
            /**
             * @description Display units; greater than 0, with at most as many decimal places as the asset has
             * @example 1.5
             */
            amount: string;
            /**
             * @description What you call the transfer: no other one of yours may have it (409 external_id_in_use). GET /transactions finds it by this
             * @example order-4711
             */
            external_id?: string;
            /** @description Stored with the transaction */
            memo?: string | null;
            /** @description Puts the memo into the transaction as well, where everybody can read it: on chains whose payments carry one */
            on_chain_memo?: boolean;
            /** @description Pays also to an address that belongs to a program and to no key, on chains that have such addresses */
            allow_program_address?: boolean;
        };
        TransferAccepted: {
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            tx_id: string;
            /** @example PENDING */
            status: string;
            message: string;
        };
        /**
         * @description Why a request was refused or a transfer failed; new codes may be added.
         *
         *     - `invalid_parameter` (400): Invalid parameter
         *     - `invalid_address` (400): Invalid address
         *     - `insufficient_balance` (400): Insufficient balance
         *     - `wallet_not_active` (400): Wallet not active
         *     - `account_not_active` (400): Account not active
         *     - `asset_already_exists` (400): Asset already exists
         *     - `business_error` (400): Refused by a business rule
         *     - `unauthorized` (401): Unauthorized
         *     - `invalid_credentials` (401): Invalid credentials
         *     - `MFA_REQUIRED` (400): MFA code required
         *     - `MFA_NOT_ENABLED` (400): MFA not enabled
         *     - `MFA_INVALID` (400): MFA code invalid
         *     - `address_blacklisted` (403): Address blacklisted
         *     - `address_not_whitelisted` (403): Address not whitelisted
         *     - `approver_is_requester` (403): Another user has to approve it
         *     - `not_found` (404): Not found
         *     - `SECURITY_FACTOR_NOT_FOUND` (404): Security factor not found
         *     - `method_not_allowed` (405): Method not allowed
         *     - `not_cancellable` (409): Not cancellable
         *     - `not_awaiting_approval` (409): Not awaiting approval
         *     - `external_id_in_use` (409): External id in use
         *     - `address_differs` (409): The stored address is not the one of the key
         *     - `SECURITY_FACTOR_ALREADY_EXISTS` (409): Security factor already exists
         *     - `idempotency_in_progress` (409): First request still running
         *     - `payload_too_large` (413): Payload too large
         *     - `unsupported_media_type` (415): Unsupported media type
         *     - `idempotency_key_reused` (422): Idempotency key reused
         *     - `rate_limited` (429): Too many requests
         *     - `internal_error` (500): Internal error
         *     - `unavailable` (503): Temporarily unavailable
         *     - `outcome_unknown` (503): Outcome unknown
         *     - `reconcile_required` (503): Orders of the signing nodes are missing or not compared
         *     - `chain_unavailable` (503): Chain unavailable
         *     - `approval_expired` (403): Not approved in time
         *     - `approval_rejected` (403): Rejected by a user
         *     - `fee_above_bound` (400): Network fee above what could be locked
         *     - `would_revert` (400): Not sent: the chain would refuse it
         *     - `not_estimated` (503): The chain could not say what the transaction would cost
         *     - `reverted_on_chain` (400): The transaction failed on chain
         *     - `transfer_not_observed` (400): Executed on chain without the expected token transfer
         *     - `intent_mismatch` (400): What is to be signed differs from the request or the order
         *     - `order_refused` (400): A signing node refused the order
         *     - `node_policy` (400): Refused by the limits of the signing nodes
         *     - `key_peer_banned` (503): A signing node no longer signs with this peer by this key
         *     - `key_frozen` (400): No two signing nodes are left that sign together by this key
         *     - `journal_behind` (503): A signing node lacks a part of its journal
         *     - `reissue_unproven` (503): A signing node has no proof that the earlier attempts have expired
         *     - `invalid_signature` (400): A signature is not of its signer
         *     - `signers_unavailable` (503): Not enough signing nodes
         *     - `broadcast_rejected` (400): The chain node refused the signed transaction
         *     - `abandoned` (400): Abandoned: none of its attempts can be executed any more
         *     - `expired` (400): All attempts have expired without being executed
         *     - `funding_lost` (400): What it was to spend is not on the chain any more
         *     - `superseded` (400): Another transaction of its sender was executed in its place
         *     - `stuck` (400): Not included in time and not replaceable within the fee bound
         * @enum {string}
         */
        FailureCode: "invalid_parameter" | "invalid_address" | "insufficient_balance" | "wallet_not_active" | "account_not_active" | "asset_already_exists" | "business_error" | "unauthorized" | "invalid_credentials" | "MFA_REQUIRED" | "MFA_NOT_ENABLED" | "MFA_INVALID" | "address_blacklisted" | "address_not_whitelisted" | "approver_is_requester" | "not_found" | "SECURITY_FACTOR_NOT_FOUND" | "method_not_allowed" | "not_cancellable" | "not_awaiting_approval" | "external_id_in_use" | "address_differs" | "SECURITY_FACTOR_ALREADY_EXISTS" | "idempotency_in_progress" | "payload_too_large" | "unsupported_media_type" | "idempotency_key_reused" | "rate_limited" | "internal_error" | "unavailable" | "outcome_unknown" | "reconcile_required" | "chain_unavailable" | "approval_expired" | "approval_rejected" | "fee_above_bound" | "would_revert" | "not_estimated" | "reverted_on_chain" | "transfer_not_observed" | "intent_mismatch" | "order_refused" | "node_policy" | "key_peer_banned" | "key_frozen" | "journal_behind" | "reissue_unproven" | "invalid_signature" | "signers_unavailable" | "broadcast_rejected" | "abandoned" | "expired" | "funding_lost" | "superseded" | "stuck";
        TransferRefusal: {
            type: string;
            title: string;
            status: number;
            detail: string;
            code: components["schemas"]["FailureCode"];
            errors?: {
                field: string;
                message: string;
            }[];
            /** @description With wallet_not_active: generating, suspended or key_not_attested */
            reason?: string;
            /** @description With insufficient_balance: the coin or token that is short */
            token_symbol?: string;
            /**
             * @description With insufficient_balance: what is available of it, display units
             * @example 1.5
             */
            available?: string;
            /**
             * @description With insufficient_balance: what the transfer takes of it with its fee bound, display units
             * @example 1.5
             */
            needed?: string;
        };
        NeededBalance: {
            token_symbol: string;
            /**
             * @description What is available of it now, display units
             * @example 1.5
             */
            available: string;
            /**
             * @description What would be locked of it, display units; null where the fee bound is not known
             * @example 1.5
             */
            needed: string | null;
        };
        /** @enum {string} */
        TransferWarningCode: "minimum_balance" | "waits_for_operator";
        TransferWarning: {
            code: components["schemas"]["TransferWarningCode"];
            message: string;
        };
        TransferEstimate: {
            /** @description POST /transfer would accept it now */
            would_be_accepted: boolean;
            /** @description Why POST /transfer would refuse it: its problem document without `instance` and `request_id`; null when it would be accepted */
            refusal: components["schemas"]["TransferRefusal"] | null;
            /** @description It would be AWAITING_APPROVAL first: its destination is not on the whitelist */
            needs_approval: boolean;
            chain: string;
            token_symbol: string;
            /**
             * @description Decimal string, display units
             * @example 1.5
             */
            amount: string;
            /** @description Network fee that would be locked beside the amount: the transfer costs at most this, unless fees rise before it is signed; null where it is not known, because the transfer would be refused */
            fee_bound: components["schemas"]["Coins"] | null;
            /** @description Of the token, then of the coin that pays the fee where it is another one */
            balances: components["schemas"]["NeededBalance"][];
            /** @description What may happen to it after it was accepted; new codes may be added */
            warnings: components["schemas"]["TransferWarning"][];
        };
        /** @enum {string} */
        TransactionType: "OUTBOUND" | "INBOUND" | "X402_SETTLE" | "X402_SIGN" | "CONSOLIDATION";
        /** @enum {string} */
        TransactionStatus: "PENDING" | "AWAITING_APPROVAL" | "SIGNING" | "SUBMITTED" | "NEEDS_ATTENTION" | "CONFIRMED" | "REJECTED" | "FAILED" | "CANCELLED" | "DETECTED" | "ORPHANED";
        TimelineEntry: {
            status: components["schemas"]["TransactionStatus"];
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            at: string;
        };
        TransactionDetail: {
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            tx_id: string;
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            wallet_id: string | null;
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            client_id: string;
            chain: string;
            transaction_type: components["schemas"]["TransactionType"];
            /** @description null: the sending account has another address than the signing nodes attest */
            from_address: string | null;
            /** @description null: the receiving account has another address than the signing nodes attest */
            to_address: string | null;
            token_symbol: string;
            /**
             * @description Decimal string, display units
             * @example 1.5
             */
            amount: string;
            status: components["schemas"]["TransactionStatus"];
            tx_hash: string | null;
            /** @description As given with the transfer */
            external_id: string | null;
            /**
             * Format: uuid
             * @description The transfer that it was made in place of
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            retry_of: string | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            asset_id: string | null;
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            account_id: string | null;
            memo: string | null;
            /** @description Fee taken by the network; null until known */
            fee: components["schemas"]["Coins"] | null;
            failure: {
                code: components["schemas"]["FailureCode"];
                message: string;
            } | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            updated_at: string;
            /** @description Depth of its block (1 for the newest); 0 before inclusion */
            confirmations: number;
            required_confirmations: number;
            block_number: number | null;
            /** @description Set if the transfer needed an approval */
            approval: {
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00.000Z
                 */
                expires_at: string;
                /**
                 * Format: uuid
                 * @description The user who approved it
                 * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
                 */
                approved_by: string | null;
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00.000Z
                 */
                approved_at: string | null;
            } | null;
            /** @description Set when the destination was blacklisted after signing had begun: the consequence for the transfer */
            screening: {
                code: string;
                message: string;
            } | null;
            /** @description Its states, oldest first */
            timeline: components["schemas"]["TimelineEntry"][];
            /** @description Current step of the transfer; null once it has ended, or when it is not available */
            live: {
                step: string;
                attempt: number;
                detail: string;
            } | null;
        };
        MfaCodeRequest: {
            /**
             * @description 6-digit TOTP code of your second factor; required; each code is valid for one request
             * @example 123456
             */
            mfa_code?: string;
        };
        PendingApproval: {
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            tx_id: string;
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            wallet_id: string | null;
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            client_id: string;
            chain: string;
            transaction_type: components["schemas"]["TransactionType"];
            /** @description null: the sending account has another address than the signing nodes attest */
            from_address: string | null;
            /** @description null: the receiving account has another address than the signing nodes attest */
            to_address: string | null;
            token_symbol: string;
            /**
             * @description Decimal string, display units
             * @example 1.5
             */
            amount: string;
            status: components["schemas"]["TransactionStatus"];
            tx_hash: string | null;
            /** @description As given with the transfer */
            external_id: string | null;
            /**
             * Format: uuid
             * @description The transfer that it was made in place of
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            retry_of: string | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Until when it waits; it is REJECTED then
             * @example 2026-01-31T12:00:00.000Z
             */
            expires_at: string | null;
            /**
             * Format: uuid
             * @description The user who requested it, who may not approve it where another user could, unless the client's policy allows it. null: not known after a restore
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            requested_by: string | null;
        };
        PendingApprovalPage: {
            data: components["schemas"]["PendingApproval"][];
            /** @description Total number of items; with other filters than wallet_id, account_id and chain counted up to 1000 */
            total: number;
            /** @description True when there are items beyond this page */
            has_more: boolean;
            /** @description False when there are more items than `total` says */
            total_is_exact: boolean;
            /** @description Cursor of the page after this one, for `after`; null: this is the last one */
            next: string | null;
        };
        /** @enum {string} */
        ApprovalDecisionKind: "approve" | "reject";
        ApprovalDecision: {
            tx_id: string;
            decision: components["schemas"]["ApprovalDecisionKind"];
        };
        DecideApprovalsRequest: {
            /** @description About each transfer at most one */
            decisions: components["schemas"]["ApprovalDecision"][];
            /**
             * @description 6-digit TOTP code of your second factor; required; each code is valid for one request
             * @example 123456
             */
            mfa_code?: string;
        };
        FieldError: {
            field: string;
            message: string;
        };
        BatchError: {
            /** @description Status that the route for a single item answers with */
            status: number;
            code: components["schemas"]["FailureCode"];
            detail: string;
            /** @description Offending fields of the item */
            errors: components["schemas"]["FieldError"][];
        };
        ApprovalDecisionResult: {
            tx_id: string;
            decision: components["schemas"]["ApprovalDecisionKind"];
            /** @description Of the transfer; null where it was refused */
            status: components["schemas"]["TransactionStatus"] | null;
            /** @description null: the item was carried out */
            error: components["schemas"]["BatchError"] | null;
        };
        ApprovalDecisionResults: {
            /** @description One for each decision, in their order */
            results: components["schemas"]["ApprovalDecisionResult"][];
        };
        Transaction: {
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            tx_id: string;
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            wallet_id: string | null;
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            client_id: string;
            chain: string;
            transaction_type: components["schemas"]["TransactionType"];
            /** @description null: the sending account has another address than the signing nodes attest */
            from_address: string | null;
            /** @description null: the receiving account has another address than the signing nodes attest */
            to_address: string | null;
            token_symbol: string;
            /**
             * @description Decimal string, display units
             * @example 1.5
             */
            amount: string;
            status: components["schemas"]["TransactionStatus"];
            tx_hash: string | null;
            /** @description As given with the transfer */
            external_id: string | null;
            /**
             * Format: uuid
             * @description The transfer that it was made in place of
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            retry_of: string | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            created_at: string;
        };
        TransactionPage: {
            data: components["schemas"]["Transaction"][];
            /** @description Total number of items; with other filters than wallet_id, account_id and chain counted up to 1000 */
            total: number;
            /** @description True when there are items beyond this page */
            has_more: boolean;
            /** @description False when there are more items than `total` says */
            total_is_exact: boolean;
            /** @description Cursor of the page after this one, for `after`; null: this is the last one */
            next: string | null;
        };
        /** @enum {string} */
        SecurityFactorType: "WHITELIST" | "BLACKLIST";
        /** @enum {string} */
        SecurityFactorStatus: "active" | "inactive";
        SecurityFactor: {
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            factor_id: string;
            factor_type: components["schemas"]["SecurityFactorType"];
            chain: string;
            address: string;
            label: string;
            status: components["schemas"]["SecurityFactorStatus"];
            reason: string;
            /**
             * Format: uuid
             * @description The user who added it
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            added_by: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            created_at: string;
        };
        SecurityFactorList: {
            items: components["schemas"]["SecurityFactor"][];
            /** @description Total number of entries on all pages */
            total: number;
        };
        CreateSecurityFactorRequest: {
            /** @description WHITELIST: trusted; BLACKLIST: transfers to it are refused */
            factor_type: components["schemas"]["SecurityFactorType"];
            /** @example ethereum */
            chain: string;
            /** @description Stored as sent; compared in canonical form */
            address: string;
            label?: string | null;
            reason?: string | null;
            /**
             * @description 6-digit TOTP code of your second factor; required; each code is valid for one request
             * @example 123456
             */
            mfa_code?: string;
        };
        NewSecurityFactor: {
            /** @description WHITELIST: trusted; BLACKLIST: transfers to it are refused */
            factor_type: components["schemas"]["SecurityFactorType"];
            /** @example ethereum */
            chain: string;
            /** @description Stored as sent; compared in canonical form */
            address: string;
            label?: string | null;
            reason?: string | null;
        };
        ChangeSecurityFactorsRequest: {
            /**
             * @description Ids of the entries to delete, before any is added
             * @default []
             */
            remove?: string[];
            /**
             * @description Entries to add
             * @default []
             */
            add?: components["schemas"]["NewSecurityFactor"][];
            /**
             * @description 6-digit TOTP code of your second factor; required; each code is valid for one request
             * @example 123456
             */
            mfa_code?: string;
        };
        RemovedSecurityFactor: {
            factor_id: string;
            /** @description null: the item was carried out */
            error: components["schemas"]["BatchError"] | null;
        };
        AddedSecurityFactor: {
            /** @description The entry, active; null where it was refused */
            factor: components["schemas"]["SecurityFactor"] | null;
            /** @description null: the item was carried out */
            error: components["schemas"]["BatchError"] | null;
        };
        SecurityFactorChanges: {
            /** @description One for each of `remove`, in their order */
            removed: components["schemas"]["RemovedSecurityFactor"][];
            /** @description One for each of `add`, in their order */
            added: components["schemas"]["AddedSecurityFactor"][];
        };
        SetSecurityFactorStatusRequest: {
            status: components["schemas"]["SecurityFactorStatus"];
            /**
             * @description 6-digit TOTP code of your second factor; required; each code is valid for one request
             * @example 123456
             */
            mfa_code?: string;
        };
        DeletedSecurityFactor: {
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            factor_id: string;
            /** @constant */
            status: "deleted";
        };
        /** @enum {string} */
        EventType: "wallet.active" | "transaction.created" | "transaction.updated" | "transaction.needs_attention" | "deposit.detected" | "deposit.confirmed" | "security_factor.changed" | "webhook.disabled";
        CreateWebhookRequest: {
            /**
             * @description https, without credentials; must not resolve to a private or local address. Redirects are not followed
             * @example https://example.com/gateway-events
             */
            url: string;
            description?: string;
            /** @description Kinds of events to send; null: all, including kinds added later */
            events?: components["schemas"]["EventType"][] | null;
            /**
             * @description 6-digit TOTP code of your second factor; required; each code is valid for one request
             * @example 123456
             */
            mfa_code?: string;
        };
        /** @enum {string} */
        WebhookStatus: "enabled" | "disabled";
        /** @enum {string} */
        WebhookDisabledReason: "client" | "gone" | "failing";
        WebhookWithSecret: {
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            webhook_id: string;
            url: string;
            description: string;
            /** @description Kinds of events; null: all */
            events: string[] | null;
            status: components["schemas"]["WebhookStatus"];
            /** @description client: disabled by you; gone: the receiver responded with 410; failing: all attempts failed for 3 days */
            disabled_reason: components["schemas"]["WebhookDisabledReason"] | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            disabled_at: string | null;
            /**
             * Format: date-time
             * @description Time of the first failure since the last success; null when the last attempt succeeded
             * @example 2026-01-31T12:00:00.000Z
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description During the overlap after a rotation: until when requests are also signed with the previous secret
             * @example 2026-01-31T12:00:00.000Z
             */
            previous_secret_valid_until: string | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            updated_at: string;
            /**
             * @description Signing secret (Standard Webhooks). Shown in this response only: store it
             * @example whsec_…
             */
            secret: string;
        };
        Webhook: {
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            webhook_id: string;
            url: string;
            description: string;
            /** @description Kinds of events; null: all */
            events: string[] | null;
            status: components["schemas"]["WebhookStatus"];
            /** @description client: disabled by you; gone: the receiver responded with 410; failing: all attempts failed for 3 days */
            disabled_reason: components["schemas"]["WebhookDisabledReason"] | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            disabled_at: string | null;
            /**
             * Format: date-time
             * @description Time of the first failure since the last success; null when the last attempt succeeded
             * @example 2026-01-31T12:00:00.000Z
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description During the overlap after a rotation: until when requests are also signed with the previous secret
             * @example 2026-01-31T12:00:00.000Z
             */
            previous_secret_valid_until: string | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            updated_at: string;
        };
        WebhookPage: {
            data: components["schemas"]["Webhook"][];
            /** @description Total number of items */
            total: number;
            /** @description True when there are items beyond this page */
            has_more: boolean;
        };
        UpdateWebhookRequest: {
            /**
             * @description https, without credentials; must not resolve to a private or local address. Redirects are not followed
             * @example https://example.com/gateway-events
             */
            url?: string;
            description?: string;
            /** @description Kinds of events to send; null: all, including kinds added later */
            events?: components["schemas"]["EventType"][] | null;
            /** @description After enabling, new events are sent; events missed before can be resent if they are listed as failed */
            status?: components["schemas"]["WebhookStatus"];
            /**
             * @description 6-digit TOTP code of your second factor; required; each code is valid for one request
             * @example 123456
             */
            mfa_code?: string;
        } | unknown | unknown | unknown | unknown;
        DeletedWebhook: {
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            webhook_id: string;
            deleted: boolean;
        };
        RotateWebhookSecretRequest: {
            /** @description How long requests are also signed with the previous secret (default 24) */
            overlap_hours?: number;
            /**
             * @description 6-digit TOTP code of your second factor; required; each code is valid for one request
             * @example 123456
             */
            mfa_code?: string;
        };
        /** @enum {string} */
        DeliveryStatus: "pending" | "delivered" | "failed";
        WebhookAttempt: {
            attempt: number;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            at: string;
            duration_ms: number;
            /** @description Status of the response; null when there was none */
            status_code: number | null;
            /** @description Why there was no response: timeout, dns, blocked_address, connection_refused, tls … */
            error: string | null;
            /** @description The first KB of the response body */
            excerpt: string;
        };
        WebhookDelivery: {
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            delivery_id: string;
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            webhook_id: string;
            /**
             * Format: uuid
             * @description The webhook-id header: the same at every attempt and resend
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            event_id: string;
            event_type: string;
            /**
             * Format: uuid
             * @description tx_id, wallet_id or factor_id the event is about
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            subject_id: string;
            status: components["schemas"]["DeliveryStatus"];
            attempts: number;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            next_attempt_at: string | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            ended_at: string | null;
            /** @description The last 20 attempts, oldest first */
            attempt_log: components["schemas"]["WebhookAttempt"][];
        };
        WebhookDeliveryPage: {
            data: components["schemas"]["WebhookDelivery"][];
            /** @description Total number of items */
            total: number;
            /** @description True when there are items beyond this page */
            has_more: boolean;
        };
        ResendFailedWebhookDeliveriesRequest: {
            /**
             * Format: date-time
             * @description Failed deliveries of events since this time
             * @example 2026-01-31T12:00:00.000Z
             */
            since: string;
        };
        ResentDeliveries: {
            /** @description Number of failed deliveries that are resent, oldest first, at most 1000 */
            resent: number;
            /** @description True when failed deliveries remain: repeat the request */
            has_more: boolean;
        };
        /** @enum {string} */
        PaymentScheme: "exact" | "upto";
        PaymentBodyV1: {
            /** @constant */
            x402Version: 1;
            paymentPayload: {
                /** @constant */
                x402Version?: 1;
                scheme: components["schemas"]["PaymentScheme"];
                /**
                 * @description CAIP-2; in version 1 also a name
                 * @example eip155:8453
                 */
                network: string;
                /** @description what the payer has signed, with the signature */
                payload: {
                    [key: string]: unknown;
                };
            } & {
                [key: string]: unknown;
            };
            paymentRequirements: {
                scheme: components["schemas"]["PaymentScheme"];
                /**
                 * @description CAIP-2; in version 1 also a name
                 * @example eip155:8453
                 */
                network: string;
                /**
                 * @description address of the token contract
                 * @example 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913
                 */
                asset: string;
                /** @example 0x5Bc2e97D04a8F61e3C7B90fD2A6548eC1f73d0E9 */
                payTo: string;
                /** @example 60 */
                maxTimeoutSeconds?: number;
                extra?: {
                    [key: string]: unknown;
                } | null;
                /**
                 * @description atomic units, decimal or 0x
                 * @example 10000
                 */
                maxAmountRequired: string;
            } & {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        PaymentTermsV2: {
            scheme: components["schemas"]["PaymentScheme"];
            /**
             * @description CAIP-2; in version 1 also a name
             * @example eip155:8453
             */
            network: string;
            /**
             * @description address of the token contract
             * @example 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913
             */
            asset: string;
            /** @example 0x5Bc2e97D04a8F61e3C7B90fD2A6548eC1f73d0E9 */
            payTo: string;
            /** @example 60 */
            maxTimeoutSeconds?: number;
            extra?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description atomic units, decimal or 0x
             * @example 10000
             */
            amount: string;
        } & {
            [key: string]: unknown;
        };
        PaymentBodyV2: {
            /** @constant */
            x402Version: 2;
            paymentPayload: {
                /** @constant */
                x402Version?: 2;
                accepted: components["schemas"]["PaymentTermsV2"];
                /** @description what the payer has signed, with the signature */
                payload: {
                    [key: string]: unknown;
                };
                extensions?: {
                    [key: string]: unknown;
                } | null;
            } & {
                [key: string]: unknown;
            };
            paymentRequirements?: components["schemas"]["PaymentTermsV2"] | null;
        } & {
            [key: string]: unknown;
        };
        PaymentBody: components["schemas"]["PaymentBodyV1"] | components["schemas"]["PaymentBodyV2"];
        /** @enum {string} */
        PaymentFailureReason: "invalid_x402_version" | "invalid_network" | "unsupported_scheme" | "invalid_transaction_state" | "unexpected_verify_error" | "settlement_pending" | "duplicate_settlement" | "payment_identifier_conflict" | "unexpected_settle_error" | "invalid_payload" | "invalid_payment_requirements" | "unsupported_payload_type" | "asset_not_deployed_contract" | "invalid_exact_evm_scheme" | "invalid_exact_evm_network_mismatch" | "invalid_upto_evm_scheme" | "invalid_upto_evm_network_mismatch" | "invalid_exact_evm_missing_eip712_domain" | "invalid_exact_evm_signature" | "eip6492_factory_not_allowed" | "smart_wallet_deployment_failed" | "invalid_exact_evm_failed_to_parse_signature" | "invalid_exact_evm_recipient_mismatch" | "invalid_exact_evm_payload_authorization_valid_before" | "invalid_exact_evm_payload_authorization_valid_after" | "invalid_exact_evm_payload_authorization_value_mismatch" | "invalid_exact_evm_authorization_value" | "invalid_exact_evm_eip3009_not_supported" | "invalid_exact_evm_nonce_already_used" | "invalid_exact_evm_token_name_mismatch" | "invalid_exact_evm_token_version_mismatch" | "invalid_exact_evm_insufficient_balance" | "invalid_exact_evm_transaction_simulation_failed" | "invalid_exact_evm_transaction_failed" | "invalid_exact_evm_transfer_event_mismatch" | "invalid_permit2_spender" | "invalid_permit2_recipient_mismatch" | "permit2_deadline_expired" | "permit2_not_yet_valid" | "permit2_amount_mismatch" | "permit2_token_mismatch" | "invalid_permit2_signature" | "permit2_allowance_required" | "permit2_simulation_failed" | "permit2_insufficient_balance" | "permit2_proxy_not_deployed" | "permit2_invalid_amount" | "permit2_invalid_destination" | "permit2_invalid_owner" | "permit2_payment_too_early" | "permit2_invalid_nonce" | "permit2_2612_amount_mismatch" | "upto_facilitator_mismatch" | "invalid_upto_evm_payload_settlement_exceeds_amount" | "upto_amount_exceeds_permitted" | "upto_unauthorized_facilitator" | "invalid_upto_evm_transaction_failed" | "invalid_eip2612_extension_format" | "eip2612_from_mismatch" | "eip2612_asset_mismatch" | "eip2612_spender_not_permit2" | "eip2612_deadline_expired" | "invalid_erc20_approval_extension_format" | "erc20_approval_from_mismatch" | "erc20_approval_asset_mismatch" | "erc20_approval_spender_not_permit2" | "erc20_approval_tx_parse_failed" | "erc20_approval_tx_wrong_target" | "erc20_approval_tx_wrong_selector" | "erc20_approval_tx_wrong_spender" | "erc20_approval_tx_invalid_calldata" | "erc20_approval_tx_invalid_signature" | "erc20_approval_tx_signer_mismatch" | "invalid_exact_svm_unsupported_scheme" | "invalid_exact_svm_network_mismatch" | "invalid_exact_svm_payload_missing_fee_payer" | "invalid_exact_svm_fee_payer_not_managed_by_facilitator" | "invalid_exact_svm_fee_payer_mismatch" | "invalid_exact_svm_payload_transaction_could_not_be_decoded" | "invalid_exact_svm_payload_signature_invalid" | "invalid_exact_svm_payload_excessive_signers" | "invalid_exact_svm_payload_transaction_instructions_length" | "invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction" | "invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high" | "invalid_exact_svm_payload_transaction_instructions_compute_price_instruction" | "invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high" | "invalid_exact_svm_payload_no_transfer_instruction" | "invalid_exact_svm_payload_transaction_fee_payer_transferring_funds" | "invalid_exact_svm_payload_mint_mismatch" | "invalid_exact_svm_payload_recipient_mismatch" | "invalid_exact_svm_payload_amount_mismatch" | "invalid_exact_svm_payload_unknown_fourth_instruction" | "invalid_exact_svm_payload_unknown_fifth_instruction" | "invalid_exact_svm_payload_unknown_sixth_instruction" | "invalid_exact_svm_payload_unknown_seventh_instruction" | "invalid_exact_svm_payload_memo_count" | "invalid_exact_svm_payload_memo_mismatch" | "invalid_exact_svm_smart_wallet_alt_resolution_not_available" | "invalid_exact_svm_smart_wallet_fee_payer_not_isolated" | "invalid_exact_svm_transaction_simulation_failed" | "invalid_exact_svm_transaction_failed" | "post_settlement_transfer_not_confirmed";
        PaymentVerdict: {
            isValid: boolean;
            /** @description null when the payment is valid */
            invalidReason: components["schemas"]["PaymentFailureReason"] | null;
            /** @description as the payment states it */
            payer?: string;
        };
        Settlement: {
            success: boolean;
            /** @description id on the chain; empty when nothing was sent, or with `Prefer: respond-async` */
            transaction: string;
            /**
             * @description CAIP-2, or as the body states it
             * @example eip155:8453
             */
            network: string;
            /** @description as the payment states it */
            payer?: string;
            /** @description the transaction of the gateway: GET /transactions/{tx_id} */
            txId?: string;
            /**
             * @description what was paid, atomic units
             * @example 10000
             */
            amount?: string;
            /** @description why it is not settled; settlement_pending: it may still be, so repeat the request */
            errorReason?: components["schemas"]["PaymentFailureReason"];
        };
        PaymentKind: {
            /** @enum {number} */
            x402Version: 1 | 2;
            scheme: components["schemas"]["PaymentScheme"];
            /** @description CAIP-2; in version 1 a name */
            network: string;
            extra?: {
                /** @description upto: the address that payers have to name */
                facilitatorAddress?: string;
                /** @description Solana: the fee payer of the transactions that payers sign */
                feePayer?: string;
            };
        };
        SupportedPayments: {
            kinds: components["schemas"]["PaymentKind"][];
            /** @description keys of the protocol extensions that are taken into account */
            extensions: string[];
            /** @description lists of the addresses that settle, by namespace of CAIP-2, such as eip155:* */
            signers: {
                [key: string]: unknown;
            };
        };
        SignPaymentRequest: {
            /** @enum {number} */
            x402Version: 1 | 2;
            /** @description Address of one of your accounts */
            payer: string;
            /** @description One entry of `accepts` of the response 402, as the resource server has written it */
            paymentRequirements: {
                /**
                 * @description `exact` or `upto`
                 * @example exact
                 */
                scheme: string;
                /**
                 * @description CAIP-2; in version 1 also a name
                 * @example eip155:8453
                 */
                network: string;
                /**
                 * @description Address of the token contract
                 * @example 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913
                 */
                asset: string;
                /**
                 * @description Atomic units; version 1 has maxAmountRequired in its place
                 * @example 10000
                 */
                amount?: string;
                /** @description Atomic units */
                maxAmountRequired?: string;
                /** @example 0x5Bc2e97D04a8F61e3C7B90fD2A6548eC1f73d0E9 */
                payTo: string;
                /**
                 * @description How long the payment can be carried out: 10 to 3600; on Solana as long as its block hash is valid
                 * @example 60
                 */
                maxTimeoutSeconds: number;
                extra?: {
                    [key: string]: unknown;
                } | null;
            } & {
                [key: string]: unknown;
            };
            /** @description `resource` of the response 402; version 2 */
            resource?: {
                [key: string]: unknown;
            } | null;
            /** @description `extensions` of the response 402; version 2 */
            extensions?: {
                [key: string]: unknown;
            } | null;
        };
        SignedPayment: {
            /**
             * Format: uuid
             * @description the transaction of the gateway: GET /transactions/{tx_id}
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            txId: string;
            /** @description SUBMITTED: signed, and not seen on the chain yet */
            status: components["schemas"]["TransactionStatus"];
            /** @description what the resource server is to get; null as long as it is not signed, and when it is not to be paid any more */
            paymentPayload: {
                [key: string]: unknown;
            } | null;
            /** @description the same as a header of the repeated request to the resource server */
            header: {
                name: string;
                value: string;
            } | null;
            /**
             * Format: date-time
             * @description last second at which it can be carried out
             */
            validUntil: string | null;
            failure: {
                code: string;
                message: string;
            } | null;
        };
        Alive: {
            /** @constant */
            status: "ok";
        };
        Ready: {
            /** @constant */
            status: "ok";
        };
        WalletActiveEvent: {
            /** @constant */
            type: "wallet.active";
            /**
             * Format: date-time
             * @description When it happened
             * @example 2026-01-31T12:00:00.000Z
             */
            timestamp: string;
            data: components["schemas"]["Wallet"];
        };
        EventTransaction: {
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            tx_id: string;
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            wallet_id: string | null;
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            client_id: string;
            chain: string;
            transaction_type: components["schemas"]["TransactionType"];
            /** @description null: the sending account has another address than the signing nodes attest */
            from_address: string | null;
            /** @description null: the receiving account has another address than the signing nodes attest */
            to_address: string | null;
            token_symbol: string;
            /**
             * @description Decimal string, display units
             * @example 1.5
             */
            amount: string;
            status: components["schemas"]["TransactionStatus"];
            tx_hash: string | null;
            /** @description As given with the transfer */
            external_id: string | null;
            /**
             * Format: uuid
             * @description The transfer that it was made in place of
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            retry_of: string | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            created_at: string;
            memo: string | null;
            /** @description Fee taken by the network; null until known */
            fee: components["schemas"]["Coins"] | null;
            failure: {
                code: components["schemas"]["FailureCode"];
                message: string;
            } | null;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            updated_at: string;
            /** @description Counts its changes: a later event has a higher one */
            sequence: number;
        };
        TransactionCreatedEvent: {
            /** @constant */
            type: "transaction.created";
            /**
             * Format: date-time
             * @description When it happened
             * @example 2026-01-31T12:00:00.000Z
             */
            timestamp: string;
            data: components["schemas"]["EventTransaction"];
        };
        TransactionUpdatedEvent: {
            /** @constant */
            type: "transaction.updated";
            /**
             * Format: date-time
             * @description When it happened
             * @example 2026-01-31T12:00:00.000Z
             */
            timestamp: string;
            data: components["schemas"]["EventTransaction"];
        };
        TransactionNeedsAttentionEvent: {
            /** @constant */
            type: "transaction.needs_attention";
            /**
             * Format: date-time
             * @description When it happened
             * @example 2026-01-31T12:00:00.000Z
             */
            timestamp: string;
            data: components["schemas"]["EventTransaction"];
        };
        DepositDetectedEvent: {
            /** @constant */
            type: "deposit.detected";
            /**
             * Format: date-time
             * @description When it happened
             * @example 2026-01-31T12:00:00.000Z
             */
            timestamp: string;
            data: components["schemas"]["EventTransaction"];
        };
        DepositConfirmedEvent: {
            /** @constant */
            type: "deposit.confirmed";
            /**
             * Format: date-time
             * @description When it happened
             * @example 2026-01-31T12:00:00.000Z
             */
            timestamp: string;
            data: components["schemas"]["EventTransaction"];
        };
        /** @enum {string} */
        SecurityFactorChange: "created" | "updated" | "activated" | "deactivated" | "deleted";
        ChangedSecurityFactor: {
            /**
             * Format: uuid
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            factor_id: string;
            factor_type: components["schemas"]["SecurityFactorType"];
            chain: string;
            address: string;
            label: string;
            status: components["schemas"]["SecurityFactorStatus"];
            reason: string;
            /**
             * Format: uuid
             * @description The user who added it
             * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
             */
            added_by: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            updated_at: string;
            change: components["schemas"]["SecurityFactorChange"];
        };
        SecurityFactorChangedEvent: {
            /** @constant */
            type: "security_factor.changed";
            /**
             * Format: date-time
             * @description When it happened
             * @example 2026-01-31T12:00:00.000Z
             */
            timestamp: string;
            data: components["schemas"]["ChangedSecurityFactor"];
        };
        /** @enum {string} */
        WebhookDisabledByGateway: "gone" | "failing";
        WebhookDisabledEvent: {
            /** @constant */
            type: "webhook.disabled";
            /**
             * Format: date-time
             * @description When it happened
             * @example 2026-01-31T12:00:00.000Z
             */
            timestamp: string;
            data: {
                /**
                 * Format: uuid
                 * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
                 */
                webhook_id: string;
                url: string;
                reason: components["schemas"]["WebhookDisabledByGateway"];
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00.000Z
                 */
                disabled_at: string;
            };
        };
        WebhookTestEvent: {
            /** @constant */
            type: "webhook.test";
            /**
             * Format: date-time
             * @description When it happened
             * @example 2026-01-31T12:00:00.000Z
             */
            timestamp: string;
            data: {
                /**
                 * Format: uuid
                 * @example 0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a
                 */
                webhook_id: string;
                message: string;
            };
        };
        /** @description RFC 9457 problem document */
        Problem: {
            /** Format: uri */
            type: string;
            title: string;
            status: number;
            detail: string;
            instance: string;
            code: components["schemas"]["FailureCode"];
            request_id: string;
            /** @description Offending fields of invalid_parameter and external_id_in_use */
            errors?: {
                field: string;
                message: string;
            }[];
            /**
             * Format: uuid
             * @description With outcome_unknown of POST /transfer: read the outcome with GET /transactions/{tx_id}
             */
            tx_id?: string;
            /** @description With wallet_not_active: generating (try again after Retry-After), suspended or key_not_attested. With not_found of a transfer: unknown_token, unknown_sender or asset_not_added */
            reason?: components["schemas"]["ProblemReason"];
            /** @description With insufficient_balance: the coin or token that is short */
            token_symbol?: string;
            /** @description With insufficient_balance: what is available of it, display units */
            available?: string;
            /** @description With insufficient_balance: what the transfer takes of it with its fee bound, display units */
            needed?: string;
        };
        /** @enum {string} */
        ProblemReason: "generating" | "suspended" | "key_not_attested" | "unknown_token" | "unknown_sender" | "asset_not_added";
    };
    responses: {
        /** @description Bad Request */
        BadRequest: {
            headers: {
                /** @description Quotas that apply: requests `q` per `w` seconds, such as "client";q=1000;w=10 */
                "RateLimit-Policy"?: string;
                /** @description Remaining quotas: `r` requests, the full quota again in `t` seconds, such as "client";r=998;t=7 */
                RateLimit?: string;
                "X-Request-Id": components["headers"]["XRequestId"];
                /** @description With wallet_not_active of a wallet whose key is being generated: seconds to wait */
                "Retry-After"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Unauthorized */
        Unauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "WWW-Authenticate": components["headers"]["WWWAuthenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Method Not Allowed */
        MethodNotAllowed: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                Allow: components["headers"]["Allow"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Too Many Requests */
        TooManyRequests: {
            headers: {
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["XRequestId"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Internal Server Error */
        InternalServerError: {
            headers: {
                /** @description Quotas that apply: requests `q` per `w` seconds, such as "client";q=1000;w=10 */
                "RateLimit-Policy"?: string;
                /** @description Remaining quotas: `r` requests, the full quota again in `t` seconds, such as "client";r=998;t=7 */
                RateLimit?: string;
                "X-Request-Id": components["headers"]["XRequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Service Unavailable */
        ServiceUnavailable: {
            headers: {
                /** @description Quotas that apply: requests `q` per `w` seconds, such as "client";q=1000;w=10 */
                "RateLimit-Policy"?: string;
                /** @description Remaining quotas: `r` requests, the full quota again in `t` seconds, such as "client";r=998;t=7 */
                RateLimit?: string;
                "X-Request-Id": components["headers"]["XRequestId"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Conflict */
        Conflict: {
            headers: {
                /** @description Quotas that apply: requests `q` per `w` seconds, such as "client";q=1000;w=10 */
                "RateLimit-Policy"?: string;
                /** @description Remaining quotas: `r` requests, the full quota again in `t` seconds, such as "client";r=998;t=7 */
                RateLimit?: string;
                "X-Request-Id": components["headers"]["XRequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Payload Too Large */
        PayloadTooLarge: {
            headers: {
                /** @description Quotas that apply: requests `q` per `w` seconds, such as "client";q=1000;w=10 */
                "RateLimit-Policy"?: string;
                /** @description Remaining quotas: `r` requests, the full quota again in `t` seconds, such as "client";r=998;t=7 */
                RateLimit?: string;
                "X-Request-Id": components["headers"]["XRequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Unsupported Media Type */
        UnsupportedMediaType: {
            headers: {
                /** @description Quotas that apply: requests `q` per `w` seconds, such as "client";q=1000;w=10 */
                "RateLimit-Policy"?: string;
                /** @description Remaining quotas: `r` requests, the full quota again in `t` seconds, such as "client";r=998;t=7 */
                RateLimit?: string;
                "X-Request-Id": components["headers"]["XRequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Unprocessable Entity */
        UnprocessableEntity: {
            headers: {
                /** @description Quotas that apply: requests `q` per `w` seconds, such as "client";q=1000;w=10 */
                "RateLimit-Policy"?: string;
                /** @description Remaining quotas: `r` requests, the full quota again in `t` seconds, such as "client";r=998;t=7 */
                RateLimit?: string;
                "X-Request-Id": components["headers"]["XRequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Not Found */
        NotFound: {
            headers: {
                /** @description Quotas that apply: requests `q` per `w` seconds, such as "client";q=1000;w=10 */
                "RateLimit-Policy"?: string;
                /** @description Remaining quotas: `r` requests, the full quota again in `t` seconds, such as "client";r=998;t=7 */
                RateLimit?: string;
                "X-Request-Id": components["headers"]["XRequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Forbidden */
        Forbidden: {
            headers: {
                /** @description Quotas that apply: requests `q` per `w` seconds, such as "client";q=1000;w=10 */
                "RateLimit-Policy"?: string;
                /** @description Remaining quotas: `r` requests, the full quota again in `t` seconds, such as "client";r=998;t=7 */
                RateLimit?: string;
                "X-Request-Id": components["headers"]["XRequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /** @description API key */
        XAPIKey: string;
        /** @description Its secret */
        XAPISecret: string;
        /** @description Makes the request safe to repeat: the same key and body get the first answer again (kept 24 hours; for transfers without a time limit). */
        IdempotencyKey: string;
        /** @description Page number, from 1 */
        Page: number;
        /** @description Items per page */
        PageSize: number;
        /** @description The wallet of yours that was given this external_id */
        ExternalId: string;
        Id: string;
        /** @description Accounts of this wallet only */
        WalletId: string;
        /** @description Accounts created for this chain only */
        Chain: string;
        /** @description Assets of this account only */
        AccountId: string;
        TxId: string;
        /** @description What was made in place of this transfer */
        RetryOf: string;
        /** @description Transactions from this address only; addresses are compared as those of their chain are, some in any letter case */
        FromAddress: string;
        /** @description Transactions to this address only, compared in the same way */
        ToAddress: string;
        /** @description Transactions created at this time or later only (RFC 3339) */
        CreatedAfter: string;
        /** @description Transactions created before this time only (RFC 3339) */
        CreatedBefore: string;
        /** @description The `next` of the page before, with the same filters. In place of `page`: with a `page` above 1 it is refused (400) */
        After: string;
        /** @description Transactions in one of these states only: names with commas between them */
        Status: string;
        /** @description Transactions with this hash only, as `tx_hash` shows it */
        TxHash: string;
        /** @description Entries of this type only */
        FactorType: components["schemas"]["SecurityFactorType"];
        FactorId: string;
        DeliveryId: string;
        /** @description `wait=N`: how many seconds to wait for the result, at most 70; `respond-async`: not at all, the answer then says only that it is accepted */
        Prefer: string;
        /** @description Id of the event: the same at every attempt and resend */
        WebhookId: string;
        /** @description Time of the attempt, Unix seconds */
        WebhookTimestamp: string;
        /** @description Signatures of id, timestamp and body, separated by spaces: `v1,<base64>` */
        WebhookSignature: string;
    };
    requestBodies: never;
    headers: {
        /** @description Quotas that apply: requests `q` per `w` seconds, such as "client";q=1000;w=10 */
        RateLimitPolicy: string;
        /** @description Remaining quotas: `r` requests, the full quota again in `t` seconds, such as "client";r=998;t=7 */
        RateLimit: string;
        /** @description Id of the request: as sent, or generated */
        XRequestId: string;
        /** @description Bearer */
        WWWAuthenticate: string;
        /** @description Methods of this path */
        Allow: string;
        /** @description Seconds to wait */
        RetryAfter: string;
        /** @description Path of the created resource */
        Location: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    createToken: {
        parameters: {
            query?: never;
            header: {
                /** @description API key */
                "X-API-Key": components["parameters"]["XAPIKey"];
                /** @description Its secret */
                "X-API-Secret": components["parameters"]["XAPISecret"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Access token */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Token"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `invalid_credentials`: Invalid credentials */
            401: components["responses"]["Unauthorized"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listWallets: {
        parameters: {
            query?: {
                /** @description Page number, from 1 */
                page?: components["parameters"]["Page"];
                /** @description Items per page */
                page_size?: components["parameters"]["PageSize"];
                /** @description The wallet of yours that was given this external_id */
                external_id?: components["parameters"]["ExternalId"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WalletPage"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createWallet: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat: the same key and body get the first answer again (kept 24 hours; for transfers without a time limit). */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWalletRequest"];
            };
        };
        responses: {
            /** @description The wallet, PROGRESSING and GENERATING */
            201: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    Location: components["headers"]["Location"];
                    /** @description true when this is the stored response of the first request */
                    "Idempotency-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Wallet"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `idempotency_in_progress`: First request still running; `external_id_in_use`: External id in use */
            409: components["responses"]["Conflict"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `idempotency_key_reused`: Idempotency key reused */
            422: components["responses"]["UnprocessableEntity"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable; `outcome_unknown`: Outcome unknown */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getWallet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The wallet */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Wallet"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getWalletAttestations: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The statements and their signatures, as stored */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WalletAttestations"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listAccounts: {
        parameters: {
            query?: {
                /** @description Page number, from 1 */
                page?: components["parameters"]["Page"];
                /** @description Items per page */
                page_size?: components["parameters"]["PageSize"];
                /** @description Accounts of this wallet only */
                wallet_id?: components["parameters"]["WalletId"];
                /** @description Accounts created for this chain only */
                chain?: components["parameters"]["Chain"];
                /** @description The account of yours that was given this external_id */
                external_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountPage"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat: the same key and body get the first answer again (kept 24 hours; for transfers without a time limit). */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAccountRequest"];
            };
        };
        responses: {
            /** @description The account */
            201: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    Location: components["headers"]["Location"];
                    /** @description true when this is the stored response of the first request */
                    "Idempotency-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter; `wallet_not_active`: Wallet not active */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `idempotency_in_progress`: First request still running; `external_id_in_use`: External id in use; `address_differs`: The stored address is not the one of the key */
            409: components["responses"]["Conflict"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `idempotency_key_reused`: Idempotency key reused */
            422: components["responses"]["UnprocessableEntity"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable; `outcome_unknown`: Outcome unknown */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The account */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `address_differs`: The stored address is not the one of the key */
            409: components["responses"]["Conflict"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getAccountAttestations: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The statements and their signatures, as stored */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountAttestations"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listChains: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All of them */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Chains"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listAssets: {
        parameters: {
            query?: {
                /** @description Page number, from 1 */
                page?: components["parameters"]["Page"];
                /** @description Items per page */
                page_size?: components["parameters"]["PageSize"];
                /** @description Assets of this account only */
                account_id?: components["parameters"]["AccountId"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssetPage"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    addAsset: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat: the same key and body get the first answer again (kept 24 hours; for transfers without a time limit). */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddAssetRequest"];
            };
        };
        responses: {
            /** @description Asset added */
            201: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    Location: components["headers"]["Location"];
                    /** @description true when this is the stored response of the first request */
                    "Idempotency-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Asset"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter; `asset_already_exists`: Asset already exists; `account_not_active`: Account not active */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `idempotency_in_progress`: First request still running */
            409: components["responses"]["Conflict"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `idempotency_key_reused`: Idempotency key reused */
            422: components["responses"]["UnprocessableEntity"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable; `outcome_unknown`: Outcome unknown */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getAsset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The asset */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Asset"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createTransfer: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat: the same key and body get the first answer again (kept 24 hours; for transfers without a time limit). */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTransferRequest"];
            };
        };
        responses: {
            /** @description The amount is locked and the transfer is in progress */
            202: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    Location: components["headers"]["Location"];
                    /** @description true when this is the stored response of the first request */
                    "Idempotency-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransferAccepted"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter; `insufficient_balance`: Insufficient balance; `invalid_address`: Invalid address; `wallet_not_active`: Wallet not active; `account_not_active`: Account not active; `business_error`: Refused by a business rule */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `address_blacklisted`: Address blacklisted; `address_not_whitelisted`: Address not whitelisted */
            403: components["responses"]["Forbidden"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `idempotency_in_progress`: First request still running; `address_differs`: The stored address is not the one of the key; `external_id_in_use`: External id in use */
            409: components["responses"]["Conflict"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `idempotency_key_reused`: Idempotency key reused */
            422: components["responses"]["UnprocessableEntity"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable; `reconcile_required`: Orders of the signing nodes are missing or not compared; `outcome_unknown`: Outcome unknown; `chain_unavailable`: Chain unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    estimateTransfer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTransferRequest"];
            };
        };
        responses: {
            /** @description What the transfer would take now */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransferEstimate"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter; `invalid_address`: Invalid address */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable; `reconcile_required`: Orders of the signing nodes are missing or not compared; `chain_unavailable`: Chain unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    cancelTransaction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tx_id: components["parameters"]["TxId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The cancelled transaction */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransactionDetail"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `not_cancellable`: Not cancellable */
            409: components["responses"]["Conflict"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable; `reconcile_required`: Orders of the signing nodes are missing or not compared; `outcome_unknown`: Outcome unknown */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    approveTransaction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tx_id: components["parameters"]["TxId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MfaCodeRequest"];
            };
        };
        responses: {
            /** @description The approved transaction */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransactionDetail"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter; `MFA_REQUIRED`: MFA code required; `MFA_NOT_ENABLED`: MFA not enabled; `MFA_INVALID`: MFA code invalid */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `approver_is_requester`: Another user has to approve it */
            403: components["responses"]["Forbidden"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `not_awaiting_approval`: Not awaiting approval */
            409: components["responses"]["Conflict"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable; `outcome_unknown`: Outcome unknown */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listApprovals: {
        parameters: {
            query?: {
                /** @description Page number, from 1 */
                page?: components["parameters"]["Page"];
                /** @description Items per page */
                page_size?: components["parameters"]["PageSize"];
                /** @description Transactions of this wallet only */
                wallet_id?: string;
                /** @description Transactions of this account only */
                account_id?: string;
                /** @description Transactions on this chain only */
                chain?: string;
                /** @description The transfer of yours that was given this external_id */
                external_id?: string;
                /** @description What was made in place of this transfer */
                retry_of?: components["parameters"]["RetryOf"];
                /** @description Transactions from this address only; addresses are compared as those of their chain are, some in any letter case */
                from_address?: components["parameters"]["FromAddress"];
                /** @description Transactions to this address only, compared in the same way */
                to_address?: components["parameters"]["ToAddress"];
                /** @description Transactions created at this time or later only (RFC 3339) */
                created_after?: components["parameters"]["CreatedAfter"];
                /** @description Transactions created before this time only (RFC 3339) */
                created_before?: components["parameters"]["CreatedBefore"];
                /** @description The `next` of the page before, with the same filters. In place of `page`: with a `page` above 1 it is refused (400) */
                after?: components["parameters"]["After"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PendingApprovalPage"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    decideApprovals: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat: the same key and body get the first answer again (kept 24 hours; for transfers without a time limit). */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DecideApprovalsRequest"];
            };
        };
        responses: {
            /** @description What became of each decision */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    /** @description true when this is the stored response of the first request */
                    "Idempotency-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalDecisionResults"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter; `MFA_REQUIRED`: MFA code required; `MFA_NOT_ENABLED`: MFA not enabled; `MFA_INVALID`: MFA code invalid */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `idempotency_in_progress`: First request still running; `not_awaiting_approval`: Not awaiting approval */
            409: components["responses"]["Conflict"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `idempotency_key_reused`: Idempotency key reused */
            422: components["responses"]["UnprocessableEntity"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable; `outcome_unknown`: Outcome unknown; `reconcile_required`: Orders of the signing nodes are missing or not compared */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listTransactions: {
        parameters: {
            query?: {
                /** @description Page number, from 1 */
                page?: components["parameters"]["Page"];
                /** @description Items per page */
                page_size?: components["parameters"]["PageSize"];
                /** @description Transactions of this wallet only */
                wallet_id?: string;
                /** @description Transactions of this account only */
                account_id?: string;
                /** @description Transactions on this chain only */
                chain?: string;
                /** @description The transfer of yours that was given this external_id */
                external_id?: string;
                /** @description What was made in place of this transfer */
                retry_of?: components["parameters"]["RetryOf"];
                /** @description Transactions from this address only; addresses are compared as those of their chain are, some in any letter case */
                from_address?: components["parameters"]["FromAddress"];
                /** @description Transactions to this address only, compared in the same way */
                to_address?: components["parameters"]["ToAddress"];
                /** @description Transactions created at this time or later only (RFC 3339) */
                created_after?: components["parameters"]["CreatedAfter"];
                /** @description Transactions created before this time only (RFC 3339) */
                created_before?: components["parameters"]["CreatedBefore"];
                /** @description The `next` of the page before, with the same filters. In place of `page`: with a `page` above 1 it is refused (400) */
                after?: components["parameters"]["After"];
                /** @description Transactions in one of these states only: names with commas between them */
                status?: components["parameters"]["Status"];
                /** @description Transactions with this hash only, as `tx_hash` shows it */
                tx_hash?: components["parameters"]["TxHash"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransactionPage"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getTransaction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tx_id: components["parameters"]["TxId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The transaction */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransactionDetail"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listSecurityFactors: {
        parameters: {
            query?: {
                /** @description Page number, from 1 */
                page?: components["parameters"]["Page"];
                /** @description Items per page */
                page_size?: number;
                /** @description Entries of this chain only */
                chain?: string;
                /** @description Entries of this type only */
                factor_type?: components["parameters"]["FactorType"];
                /** @description Entries in this status only */
                status?: components["schemas"]["SecurityFactorStatus"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entries */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecurityFactorList"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createSecurityFactor: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat: the same key and body get the first answer again (kept 24 hours; for transfers without a time limit). */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSecurityFactorRequest"];
            };
        };
        responses: {
            /** @description The entry, active */
            201: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    Location: components["headers"]["Location"];
                    /** @description true when this is the stored response of the first request */
                    "Idempotency-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecurityFactor"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter; `invalid_address`: Invalid address; `business_error`: Refused by a business rule; `MFA_REQUIRED`: MFA code required; `MFA_NOT_ENABLED`: MFA not enabled; `MFA_INVALID`: MFA code invalid */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `idempotency_in_progress`: First request still running; `SECURITY_FACTOR_ALREADY_EXISTS`: Security factor already exists */
            409: components["responses"]["Conflict"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `idempotency_key_reused`: Idempotency key reused */
            422: components["responses"]["UnprocessableEntity"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable; `outcome_unknown`: Outcome unknown */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    changeSecurityFactors: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat: the same key and body get the first answer again (kept 24 hours; for transfers without a time limit). */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeSecurityFactorsRequest"];
            };
        };
        responses: {
            /** @description What became of each change */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    /** @description true when this is the stored response of the first request */
                    "Idempotency-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecurityFactorChanges"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter; `MFA_REQUIRED`: MFA code required; `MFA_NOT_ENABLED`: MFA not enabled; `MFA_INVALID`: MFA code invalid */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `idempotency_in_progress`: First request still running; `SECURITY_FACTOR_ALREADY_EXISTS`: Security factor already exists */
            409: components["responses"]["Conflict"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `idempotency_key_reused`: Idempotency key reused */
            422: components["responses"]["UnprocessableEntity"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable; `outcome_unknown`: Outcome unknown */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getSecurityFactor: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                factor_id: components["parameters"]["FactorId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entry */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecurityFactor"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `SECURITY_FACTOR_NOT_FOUND`: Security factor not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    deleteSecurityFactor: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                factor_id: components["parameters"]["FactorId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MfaCodeRequest"];
            };
        };
        responses: {
            /** @description Deleted */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedSecurityFactor"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter; `MFA_REQUIRED`: MFA code required; `MFA_NOT_ENABLED`: MFA not enabled; `MFA_INVALID`: MFA code invalid */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `SECURITY_FACTOR_NOT_FOUND`: Security factor not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable; `outcome_unknown`: Outcome unknown */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    setSecurityFactorStatus: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                factor_id: components["parameters"]["FactorId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetSecurityFactorStatusRequest"];
            };
        };
        responses: {
            /** @description The entry */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecurityFactor"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter; `MFA_REQUIRED`: MFA code required; `MFA_NOT_ENABLED`: MFA not enabled; `MFA_INVALID`: MFA code invalid */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `SECURITY_FACTOR_NOT_FOUND`: Security factor not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `SECURITY_FACTOR_ALREADY_EXISTS`: Security factor already exists */
            409: components["responses"]["Conflict"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable; `outcome_unknown`: Outcome unknown */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description Page number, from 1 */
                page?: components["parameters"]["Page"];
                /** @description Items per page */
                page_size?: components["parameters"]["PageSize"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookPage"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat: the same key and body get the first answer again (kept 24 hours; for transfers without a time limit). */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhookRequest"];
            };
        };
        responses: {
            /** @description The webhook with its secret */
            201: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    Location: components["headers"]["Location"];
                    /** @description true when this is the stored response of the first request */
                    "Idempotency-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter; `business_error`: Refused by a business rule; `MFA_REQUIRED`: MFA code required; `MFA_NOT_ENABLED`: MFA not enabled; `MFA_INVALID`: MFA code invalid */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `idempotency_in_progress`: First request still running */
            409: components["responses"]["Conflict"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `idempotency_key_reused`: Idempotency key reused */
            422: components["responses"]["UnprocessableEntity"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable; `outcome_unknown`: Outcome unknown */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateWebhookRequest"];
            };
        };
        responses: {
            /** @description The changed webhook */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter; `MFA_REQUIRED`: MFA code required; `MFA_NOT_ENABLED`: MFA not enabled; `MFA_INVALID`: MFA code invalid */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable; `outcome_unknown`: Outcome unknown */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MfaCodeRequest"];
            };
        };
        responses: {
            /** @description Deleted */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedWebhook"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter; `MFA_REQUIRED`: MFA code required; `MFA_NOT_ENABLED`: MFA not enabled; `MFA_INVALID`: MFA code invalid */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable; `outcome_unknown`: Outcome unknown */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat: the same key and body get the first answer again (kept 24 hours; for transfers without a time limit). */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RotateWebhookSecretRequest"];
            };
        };
        responses: {
            /** @description The webhook with its new secret */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    /** @description true when this is the stored response of the first request */
                    "Idempotency-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter; `MFA_REQUIRED`: MFA code required; `MFA_NOT_ENABLED`: MFA not enabled; `MFA_INVALID`: MFA code invalid */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `idempotency_in_progress`: First request still running */
            409: components["responses"]["Conflict"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `idempotency_key_reused`: Idempotency key reused */
            422: components["responses"]["UnprocessableEntity"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable; `outcome_unknown`: Outcome unknown */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat: the same key and body get the first answer again (kept 24 hours; for transfers without a time limit). */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery; its progress is shown in the list of deliveries */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    /** @description true when this is the stored response of the first request */
                    "Idempotency-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter; `business_error`: Refused by a business rule */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `idempotency_in_progress`: First request still running */
            409: components["responses"]["Conflict"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `idempotency_key_reused`: Idempotency key reused */
            422: components["responses"]["UnprocessableEntity"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable; `outcome_unknown`: Outcome unknown */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description Page number, from 1 */
                page?: components["parameters"]["Page"];
                /** @description Items per page */
                page_size?: components["parameters"]["PageSize"];
                /** @description Deliveries in this state only */
                status?: components["schemas"]["DeliveryStatus"];
            };
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryPage"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    resendWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["Id"];
                delivery_id: components["parameters"]["DeliveryId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter; `business_error`: Refused by a business rule */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable; `outcome_unknown`: Outcome unknown */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    resendFailedWebhookDeliveries: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResendFailedWebhookDeliveriesRequest"];
            };
        };
        responses: {
            /** @description Number of deliveries queued */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResentDeliveries"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter; `business_error`: Refused by a business rule */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable; `outcome_unknown`: Outcome unknown */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    verifyPayment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentBody"];
            };
        };
        responses: {
            /** @description The verdict */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentVerdict"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    settlePayment: {
        parameters: {
            query?: never;
            header?: {
                /** @description `wait=N`: how many seconds to wait for the result, at most 70; `respond-async`: not at all, the answer then says only that it is accepted */
                Prefer?: components["parameters"]["Prefer"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentBody"];
            };
        };
        responses: {
            /** @description The outcome */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Settlement"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable; `reconcile_required`: Orders of the signing nodes are missing or not compared; `outcome_unknown`: Outcome unknown */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listSupportedPayments: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Kinds of payments */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SupportedPayments"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    signPayment: {
        parameters: {
            query?: never;
            header?: {
                /** @description `wait=N`: how many seconds to wait for the result, at most 70; `respond-async`: not at all, the answer then says only that it is accepted */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Makes the request safe to repeat: the same key and body get the first answer again (kept 24 hours; for transfers without a time limit). */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignPaymentRequest"];
            };
        };
        responses: {
            /** @description The amount is locked; `paymentPayload` is null if it is not signed yet */
            202: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    Location: components["headers"]["Location"];
                    /** @description true when this is the stored response of the first request */
                    "Idempotency-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedPayment"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter; `insufficient_balance`: Insufficient balance; `invalid_address`: Invalid address; `wallet_not_active`: Wallet not active; `account_not_active`: Account not active; `business_error`: Refused by a business rule */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `address_blacklisted`: Address blacklisted; `address_not_whitelisted`: Address not whitelisted */
            403: components["responses"]["Forbidden"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `idempotency_in_progress`: First request still running; `address_differs`: The stored address is not the one of the key */
            409: components["responses"]["Conflict"];
            /** @description `payload_too_large`: Payload too large */
            413: components["responses"]["PayloadTooLarge"];
            /** @description `unsupported_media_type`: Unsupported media type */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `idempotency_key_reused`: Idempotency key reused */
            422: components["responses"]["UnprocessableEntity"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable; `reconcile_required`: Orders of the signing nodes are missing or not compared; `outcome_unknown`: Outcome unknown */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getSignedPayment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tx_id: components["parameters"]["TxId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The payment */
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedPayment"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `unauthorized`: Unauthorized */
            401: components["responses"]["Unauthorized"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getLive: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process is running */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alive"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
        };
    };
    getReady: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Both are available */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ready"];
                };
            };
            /** @description `invalid_parameter`: Invalid parameter */
            400: components["responses"]["BadRequest"];
            /** @description `method_not_allowed`: Method not allowed */
            405: components["responses"]["MethodNotAllowed"];
            /** @description `rate_limited`: Too many requests */
            429: components["responses"]["TooManyRequests"];
            /** @description `internal_error`: Internal error */
            500: components["responses"]["InternalServerError"];
            /** @description `unavailable`: Temporarily unavailable */
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    on_wallet_active: {
        parameters: {
            query?: never;
            header: {
                /** @description Id of the event: the same at every attempt and resend */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Time of the attempt, Unix seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Signatures of id, timestamp and body, separated by spaces: `v1,<base64>` */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WalletActiveEvent"];
            };
        };
        responses: {
            /** @description The endpoint is gone: it is disabled */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else is sent again later */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    on_transaction_created: {
        parameters: {
            query?: never;
            header: {
                /** @description Id of the event: the same at every attempt and resend */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Time of the attempt, Unix seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Signatures of id, timestamp and body, separated by spaces: `v1,<base64>` */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TransactionCreatedEvent"];
            };
        };
        responses: {
            /** @description The endpoint is gone: it is disabled */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else is sent again later */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    on_transaction_updated: {
        parameters: {
            query?: never;
            header: {
                /** @description Id of the event: the same at every attempt and resend */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Time of the attempt, Unix seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Signatures of id, timestamp and body, separated by spaces: `v1,<base64>` */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TransactionUpdatedEvent"];
            };
        };
        responses: {
            /** @description The endpoint is gone: it is disabled */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else is sent again later */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    on_transaction_needs_attention: {
        parameters: {
            query?: never;
            header: {
                /** @description Id of the event: the same at every attempt and resend */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Time of the attempt, Unix seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Signatures of id, timestamp and body, separated by spaces: `v1,<base64>` */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TransactionNeedsAttentionEvent"];
            };
        };
        responses: {
            /** @description The endpoint is gone: it is disabled */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else is sent again later */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    on_deposit_detected: {
        parameters: {
            query?: never;
            header: {
                /** @description Id of the event: the same at every attempt and resend */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Time of the attempt, Unix seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Signatures of id, timestamp and body, separated by spaces: `v1,<base64>` */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DepositDetectedEvent"];
            };
        };
        responses: {
            /** @description The endpoint is gone: it is disabled */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else is sent again later */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    on_deposit_confirmed: {
        parameters: {
            query?: never;
            header: {
                /** @description Id of the event: the same at every attempt and resend */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Time of the attempt, Unix seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Signatures of id, timestamp and body, separated by spaces: `v1,<base64>` */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DepositConfirmedEvent"];
            };
        };
        responses: {
            /** @description The endpoint is gone: it is disabled */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else is sent again later */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    on_security_factor_changed: {
        parameters: {
            query?: never;
            header: {
                /** @description Id of the event: the same at every attempt and resend */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Time of the attempt, Unix seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Signatures of id, timestamp and body, separated by spaces: `v1,<base64>` */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SecurityFactorChangedEvent"];
            };
        };
        responses: {
            /** @description The endpoint is gone: it is disabled */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else is sent again later */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    on_webhook_disabled: {
        parameters: {
            query?: never;
            header: {
                /** @description Id of the event: the same at every attempt and resend */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Time of the attempt, Unix seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Signatures of id, timestamp and body, separated by spaces: `v1,<base64>` */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookDisabledEvent"];
            };
        };
        responses: {
            /** @description The endpoint is gone: it is disabled */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else is sent again later */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    on_webhook_test: {
        parameters: {
            query?: never;
            header: {
                /** @description Id of the event: the same at every attempt and resend */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Time of the attempt, Unix seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Signatures of id, timestamp and body, separated by spaces: `v1,<base64>` */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookTestEvent"];
            };
        };
        responses: {
            /** @description The endpoint is gone: it is disabled */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else is sent again later */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
