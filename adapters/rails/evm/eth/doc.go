// Package eth has what a wallet needs of the formats of Ethereum: addresses, keys derived from public keys, and the
// calls and events of an ERC-20 contract. It does no I/O.
package eth
