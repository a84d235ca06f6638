// Package uma makes production platforms providers of UMA 1.0: it asks other providers about receivers and for invoices, and
// answers their requests. Messages, signatures and amounts are checked by the rules of core/uma.
//
// It never decides what a payment costs or whether it is accepted: that is asked of the use cases. What is lost at its boundary are
// the SDK's own fetcher, caches and floating-point amounts, which it does not use.
package uma
