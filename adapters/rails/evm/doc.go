// Package evm connects Ethereum, Base, Polygon and Plasma: payments in USDC and USDT over the JSON-RPC of a node. A connection is
// one wallet on one chain.
//
// Every payer gets an address of their own, derived from the account key of the wallet, so that a transfer needs no
// reference. Transfers of the listed contracts to these addresses are reported after a number of confirmations, and what
// a reorganisation takes back is reported as a reversal. What was received is swept to the wallet that pays.
//
// A payment is one transaction with one nonce. It is signed and stored before it is sent, and every further version of it
// (with a higher fee) has the same nonce and the same call: the chain accepts one of them, so a repeated call, another
// process and a crash at any step move the money once. No answer of a node makes a payment refused, except for a block
// in which the contract refused it.
//
// Poll does the work (reading blocks, confirming, replacing, sweeping), stores what it finds, and reports from there.
package evm
