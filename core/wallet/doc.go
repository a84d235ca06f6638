// Package wallet defines embedded wallets: accounts under keys of the customer. It holds the credentials
// by which customers prove who they are, the sessions that these open, the requests that customers sign,
// and the signatures themselves.
//
// Keys, codes and times are arguments: the package makes no secret, and keeps none.
package wallet
