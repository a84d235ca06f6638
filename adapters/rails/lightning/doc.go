// Package lightning connects a node of the Lightning network: payouts to invoices (BOLT 11) and Lightning addresses (LNURL-pay), and
// invoices that are paid to the node.
//
// The payment hash of an invoice is kept before the node is asked to pay it. A node pays a hash once, so what became of a call whose
// answer was lost is asked by the hash, and nothing is paid under another one before the node has said that this one failed.
package lightning
