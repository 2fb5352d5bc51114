/** Where a test shows a point: a file of test/ and words in the title of one of its tests, after those of its groups. */
export type Shown = readonly [file: string, title: string];
/** A point that says several things: each by words of its own. */
export type Clauses = Readonly<Record<string, readonly Shown[]>>;
export type Point = readonly Shown[] | Clauses;

const worker = 'adversary/worker.test.ts';
const workerDigests = 'adversary/worker-digests.test.ts';
const api = 'adversary/api.test.ts';
const authoriser = 'adversary/authoriser.test.ts';
const ofHouse = 'unit/mpc-node/verify-settlement.test.ts';
const stored = 'integration/x402/stored-settlement.test.ts';
const settlements = 'integration/x402/settlements.test.ts';
const houseOrders = 'adversary/house-orders.test.ts';
const limits = 'unit/mpc-node/limits.test.ts';
const login = 'adversary/authoriser-login.test.ts';
const admission = 'integration/mpc/admission.test.ts';
const inserted = 'integration/transfers/inserted-attempts.test.ts';
const database = 'adversary/gateway-database.test.ts';
const node = 'adversary/one-signing-node.test.ts';
const pooledKeys = 'integration/mpc/pooled-keys.test.ts';
const reissues = 'integration/mpc/reissues.test.ts';
const toAuthoriser = 'adversary/temporal-authoriser.test.ts';
const toNodes = 'adversary/temporal-nodes.test.ts';
const toWorker = 'adversary/temporal-worker.test.ts';
const operatorActs = 'integration/workflows/operator-acts.test.ts';
const numbers = 'integration/transfers/order-numbers.test.ts';
const otherShares = 'adversary/other-shares.test.ts';
const rewritten = 'adversary/rewritten-addresses.test.ts';
const poolUsedUp: readonly Shown[] = [
  ['integration/mpc/wallet-keys.test.ts', 'two wallets at once and one key'],
  ['integration/wallets/pooled-keys.test.ts', 'keys are ordered up to the size of the pool'],
];
/** Of every part that is no node. */
const shares: readonly Shown[] = [
  [otherShares, 'nobody else is started with its credentials'],
  [otherShares, 'its database refuses every other login'],
];

/** The points of SECURITY.md's lists, each by its first words, and the tests that show them; none: nothing shows it. */
export const points: Record<string, Record<string, Point>> = {
  'One signing node: can': {
    'refuse or disturb signing': [[node, 'can refuse everything']],
    'keep every new wallet': [['integration/http/wallet-limits.test.ts', 'are limited in total']],
    'violate the protocol once': [
      [node, 'can violate the protocol once for each peer'],
      ['integration/mpc/frost.test.ts', 'after 32 sessions that it has spoilt'],
    ],
    'withhold its last message': [[node, 'can withhold its last message']],
    'fill its peers': [[node, 'can fill its peers’ journals']],
  },
  'One signing node: cannot': {
    'sign alone': [['adversary/two-signing-nodes.test.ts', 'one of them cannot']],
    'learn another share': {
      'from what peers send in an honest run': [
        ['unit/mpc/protocol.test.ts', 'no message of an honest run'],
        ['unit/mpc/frost.test.ts', 'no message of an honest run'],
      ],
      'from what they answer when asked': [[otherShares, 'no path that gives a share']],
      'from their databases': [[otherShares, 'its rows are opened by no other node’s key-encryption keys']],
    },
    'have anything signed': [[node, 'cannot have anything signed without an order']],
  },
  'Temporal: can': {
    delay: [['crash/faults.test.ts', 'Temporal killed']],
    'begin earlier': [[toAuthoriser, 'can begin earlier what is due']],
    'have the same bytes signed twice': [[toNodes, 'can have the same bytes signed twice']],
    'prepare a transfer badly': {
      'with too little gas': [[toWorker, 'can prepare a transfer with too little gas']],
      'with a fee of up to ten times the usual bound': [[toAuthoriser, 'no fee far above the usual']],
    },
    'park a transfer': [[toWorker, 'can park a transfer']],
    'put an operator’s retry': {
      'on record that never was': [[operatorActs, 'can put an act on record that never was']],
      'leave out one that was sent to Temporal itself': [[operatorActs, 'or leave out a later one of the same id']],
    },
    'end a transfer before': [[toWorker, 'can end a transfer of which nothing is signed by a fee']],
    'give a wallet': [[toAuthoriser, 'can ask for a key of its own for a wallet that has none']],
    'use up the pool of keys': poolUsedUp,
  },
  'Temporal: cannot': {
    'have anything signed': [[toNodes, 'cannot have anything signed that the authoriser has not ordered']],
    'change what is ordered': [[toNodes, 'cannot change what is ordered']],
    'choose a nonce': [
      [toAuthoriser, 'the authoriser takes the next nonce'],
      ['integration/transfers/reconcile.test.ts', 'neither burns nor leaves out a nonce'],
    ],
    'end a transfer': {
      'that nothing on record has refused': [[toWorker, 'cannot end a transfer that nothing has refused']],
      'as anything but what is on record': [[toWorker, 'cannot end a transfer whose signing has begun']],
    },
    'cancel without': [[toAuthoriser, 'cannot cancel without a reason on record']],
  },
  'Worker: can': {
    delay: [['crash/faults.test.ts', 'while worker and API are down']],
    'report false fees': {
      'false fees up to the cap': [[worker, 'can report false fees']],
      'times of an authorised payment up to a minute longer': [
        ['integration/x402/sign.test.ts', 'can be open for up to a minute longer than was asked for'],
      ],
      'credit deposits that do not exist': [[worker, 'can credit a deposit that does not exist']],
      'or balances by adjustments': [[worker, 'can adjust a balance falsely']],
      'freeze assets': [[worker, 'freeze assets']],
      'or end a transfer with a wrong result': [[worker, 'report a false inclusion']],
    },
    'give a wallet': [[worker, 'can give a wallet that has no key yet a key of its own']],
    'use up the pool of keys': poolUsedUp,
    'abandon a transfer': [
      [worker, 'can abandon what an operator has requested'],
      ['integration/transfers/refusals.test.ts', 'ends with an operator’s request that knows the newest attempt'],
      ['integration/following/executed-after-proof.test.ts', 'a transfer that failed by proof and is executed all the same'],
    ],
    'end a transfer before': [[worker, 'can end a transfer before anything of it is signed']],
    'end a transfer’s wait': [[worker, 'cannot approve by the state of a transfer']],
    'open the webhook secrets': [[worker, 'read the sealed webhook secrets']],
  },
  'Worker: cannot': {
    'sign an order': [[worker, 'it has neither the order key']],
    'learn a share': shares,
    'have digests signed': [
      [workerDigests, 'refuse a digest in the place of bytes'],
      [workerDigests, 'refuse an order over digests that the worker makes'],
      [workerDigests, 'takes no digests beside its order and bytes'],
    ],
    'insert an attempt': {
      'an attempt': [[worker, 'insert an attempt']],
      'a reservation': [[worker, 'insert a reservation']],
      'an order': [[worker, 'insert an order']],
    },
    'change a destination': {
      'a destination': [[worker, 'change a destination']],
      'an amount': [[worker, 'change an amount']],
      'an address': [[worker, 'change an address']],
      'a key that is in use': [[worker, 'change a key that is in use']],
    },
    approve: [[worker, 'with its login it cannot approve']],
    'change lists': {
      lists: [[worker, 'change lists']],
      limits: [[worker, 'change limits']],
      policies: [[worker, 'change policies']],
      'also at the nodes': [[toAuthoriser, 'cannot change the nodes’ blacklists']],
    },
    'read API keys': {
      'API keys': [[worker, 'read API keys']],
      'TOTP secrets': [[worker, 'read TOTP secrets']],
    },
    'remove an audit row': [[worker, 'remove an audit row']],
    'refuse in the name': {
      'of a node': [
        [worker, 'with its login it cannot refuse in the name of a node'],
        [worker, 'refusals that no node has signed cancel nothing'],
      ],
      'or of the authoriser': [[worker, 'refuse in the name of the authoriser']],
      'give a transfer up without a reason on record': [
        [worker, 'abandon what no operator wants abandoned'],
        [worker, 'give up for a list'],
        [worker, 'give up for limits of nodes'],
      ],
    },
  },
  'API: can': {
    'start transfers': {
      'start transfers in the name of clients': [[api, 'can start a transfer in the name of a user']],
      'approve them': [[api, 'can approve in the name of a user']],
      'change their lists': [
        [api, 'add an address to a list'],
        [api, 'remove an address from a list'],
      ],
    },
    'show false addresses': [[api, 'can store an address of its own for a new account']],
    'open the secrets': [[api, 'can open the secrets in the database']],
    'have the house pay': {
      'have the house pay the fees of settlements': [[stored, 'an authorisation is begun as it is stored']],
      'up to what the policy of that client': [[stored, 'that the house does not pay for is refused']],
      'and the limits of the nodes allow': [[limits, 'settlements are refused above it']],
      'take the payment of a client’s buyer for settled': [
        [settlements, 'is confirmed by the API at once, without a transaction of the chain'],
      ],
      'so that this client cannot have it settled': [
        [settlements, 'keeps nobody but its own client from having the payment settled'],
      ],
    },
  },
  'API: cannot': {
    'sign an order': [[api, 'it has neither the order key']],
    'learn a share': shares,
    'begin signing': [[api, 'begin signing']],
    'credit a balance': [[api, 'credit a balance']],
    'change a limit': {
      'a limit': [[api, 'change a limit']],
      'a policy': [[api, 'change a policy']],
      'a user': [[api, 'change a user']],
      'an API key': [[api, 'change an API key']],
      'a stored amount': [[api, 'change a stored amount']],
      destination: [[api, 'change a stored destination']],
      'or address': [[api, 'change a stored address']],
    },
    'remove an audit row': [[api, 'remove an audit row']],
  },
  'Authoriser: can': {
    'order anything': {
      'that the nodes’ limits': [[authoriser, 'can order what the limits of the nodes allow']],
      chains: [[houseOrders, 'a chain that the nodes do not serve']],
      tokens: [[houseOrders, 'a token that the nodes do not know']],
      'fee caps': [[authoriser, 'cannot order a fee above']],
    },
    'take addresses off': {
      'take addresses off the nodes’ copies': [['integration/mpc/blacklist.test.ts', 'an order takes addresses off']],
      'keep later changes from them for good': [['integration/mpc/blacklist.test.ts', 'keeps later changes away']],
      'the operators’ `deniedAddresses` hold': [
        ['integration/mpc/limits.test.ts', 'a denied recipient however its address is written'],
      ],
    },
  },
  'Authoriser: cannot': {
    'learn a share': shares,
    'have digests signed': [[authoriser, 'cannot have digests signed']],
    'use a key for another client': [[authoriser, 'cannot use a key for another client']],
    'have a key bound to a second wallet': {
      'have a key bound to a second wallet': [[pooledKeys, 'no node binds it to a second wallet or client']],
      'have a node take more than about 256 keys of no client in seven days': [
        [pooledKeys, 'a node takes a bounded number of them in seven days'],
      ],
    },
    'have a client’s key settle': {
      'have a client’s key settle what somebody else has authorised': [
        [authoriser, 'cannot have a key of a client settle what somebody else has authorised'],
        [houseOrders, 'a key of a client settles nothing'],
      ],
      'a key of the house move tokens of its own': [
        [houseOrders, 'a key of the house cannot move tokens of its own'],
        [ofHouse, "the house's replacement that pays tokens"],
      ],
      'or more coins than the nodes allow for `gas`': [
        [houseOrders, 'coins of the house are limited to the highest fee of the chain'],
        [ofHouse, 'a replacement of coins that leave the house, as if they were gas'],
        [ofHouse, 'the house, whose fees are counted'],
        ['integration/mpc/limits.test.ts', 'cancellations of the house count as its gas'],
      ],
      'except to their own `houseDestinations`': [
        ['integration/mpc/limits.test.ts', 'go nowhere else, whatever the gateway orders'],
      ],
    },
    'have the wallet of a payer created': {
      'by another contract than one of the nodes’ own `walletFactories`': [
        ['integration/mpc/limits.test.ts', 'is created by no other factory, whatever the gateway orders'],
      ],
    },
    'have other bytes signed': {
      'have other bytes signed for an attempt': [
        [authoriser, 'cannot have other bytes signed for an attempt'],
        ['adversary/bitcoin.test.ts', 'other amounts of the inputs for the attempt that was signed'],
      ],
      'or the same bytes for another account': [[admission, 'an attempt is of one account']],
    },
    'have one Bitcoin transaction': {
      'signed over two sets of amounts': [[admission, 'is admitted with one set of them, whatever the transaction']],
      'a node that has admitted one refuses the other': [[admission, 'of two sets at the same moment one is admitted']],
    },
    'have a later attempt': {
      'executed beside the first': [
        [authoriser, 'cannot have a later attempt signed'],
        ['adversary/bitcoin.test.ts', 'a later attempt that spends other inputs'],
        ['unit/mpc-node/verify-intent.test.ts', 'a reissue, where attempts do not expire'],
      ],
      'on chains where attempts expire': [
        [reissues, 'it has not expired: every pair refuses'],
        [reissues, 'it was executed, and its time is over: every pair refuses'],
        [reissues, 'the endpoints show a time that has not come'],
      ],
      'two nodes have each proven at an endpoint of its own': [[reissues, 'at one node: the other one refuses']],
      'every earlier one': [
        [reissues, 'in place of those that were signed: every pair refuses'],
        [reissues, 'two at the same moment: one is signed'],
      ],
    },
    'approve, accept or end': {
      approve: [[authoriser, 'cannot approve in the database']],
      accept: [[authoriser, 'accept or change a transfer']],
      'end a transfer': [[authoriser, 'end a transfer']],
    },
    'credit a balance': [[authoriser, 'credit a balance']],
  },
  'The authoriser’s login without its key: can': {
    'have ordered what the API': [[inserted, 'can choose the number of a first attempt']],
    'have a fee ordered': [[inserted, 'up to the cap of the chain']],
    'keep transfers from': [[login, 'an operator decides what becomes of it']],
    'say that a restored': [[inserted, 'can say that the database was compared']],
  },
  'The authoriser’s login without its key: cannot': {
    'sign an order': [[login, 'cannot sign an order']],
    'have anything ordered': {
      'that the API has not accepted': [[inserted, 'a transfer of its own is not accepted']],
      'that the lists or a missing approval forbid': [[inserted, 'a first attempt that it begins is not ordered']],
    },
    'have a transfer cancelled': [
      [login, 'cannot have a transfer cancelled'],
      [inserted, 'is ordered for no reason that is not on record'],
      [inserted, 'is not made good by what it writes itself'],
      [inserted, 'is not made good by a request that was withdrawn'],
    ],
    'have a fee ordered': {
      'above the chain’s cap': [[inserted, 'above the absolute cap of the chain']],
      'above what is locked for it': [[inserted, 'above what is locked for it']],
      'below what the bytes may cost': [[inserted, 'as less than the bytes may cost']],
    },
    'have a second payment': {
      'a second payment of a transfer': [
        [inserted, 'a second attempt of kind first is not ordered'],
        [inserted, 'a second attempt of kind reissue is not ordered'],
      ],
      'a sixth replacement': [[inserted, 'a replacement after five others is not ordered']],
    },
  },
  'Gateway database, its owner or an administrator: can': {
    'change balances': [
      [database, 'can change intents only by switching off rules'],
      [database, 'can change policies'],
      [database, 'can change blacklists'],
    ],
    'add users': [[database, 'can add a user with an API key']],
    'set the running number': [
      [numbers, 'far below the present ones: the lost order is not found'],
      [numbers, 'far above the present ones: an order that had its number before'],
    ],
    'switch off the rules': [[database, 'cannot change the audit log unnoticed']],
  },
  'Gateway database, its owner or an administrator: cannot': {
    'obtain shares': [[otherShares, 'neither the gateway’s database nor the history of the key’s generation']],
    sign: [[otherShares, 'nor does it show the key that signs orders']],
    'have other bytes signed': [[database, 'cannot have anything else signed once an attempt has begun']],
    'have an order signed': [[database, 'that is inserted into the database is signed by nobody']],
    'open TOTP': {
      TOTP: [[database, 'cannot open TOTP secrets']],
      'webhook secrets': [[database, 'cannot open webhook secrets']],
    },
    'have the API show': {
      'show an address of its own': [
        [rewritten, 'a rewritten accounts.address is neither shown'],
        [rewritten, 'a rewritten public key'],
      ],
      'or use an account whose address it has changed': [[rewritten, 'nor used, and raises an alarm']],
    },
    'have a webhook show': [['integration/webhooks/attested.test.ts', 'the address of an event that was rewritten is not sent']],
  },
  'Two signing nodes: can': { 'sign anything': [['adversary/two-signing-nodes.test.ts', 'can sign anything']] },
};
