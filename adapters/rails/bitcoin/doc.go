// Package bitcoin connects a wallet of Bitcoin Core, over its JSON-RPC: deposits to addresses of their own for each
// account and quote, and payouts in batches.
//
// The wallet selects coins, makes change and signs. A signed transaction is kept before it is sent, with its coins, so
// that a payment leaves once whatever fails in between: what is sent again is the same transaction, or one that spends
// the same coins.
package bitcoin
