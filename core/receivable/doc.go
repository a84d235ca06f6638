// Package receivable holds the rules on what customers owe for money that was collected from an external account
// and that the payer's bank has taken back.
//
// A return is always posted in full against the partner. What the customer's balance does not cover at once
// remains owed, and later money pays it; what is never paid is written off. A customer's balance never becomes
// negative, and nothing is collected beyond what is owed.
package receivable
