package ledger

// Class is what an account is to the service: what it has, what it owes, what it
// earned, what it paid, or what it holds for trade.
type Class string

// The classes.
const (
	Asset     Class = "asset"
	Liability Class = "liability"
	Income    Class = "income"
	Expense   Class = "expense"
	// Trading is where conversions meet: above zero the service has taken more of the
	// currency than it has given, below zero less.
	Trading Class = "trading"
)

// IsDebitNormal tells on which side the balance of an account of the class grows.
// Assets and expenses are debits minus credits; liabilities, income and trading
// positions are credits minus debits. So every balance reads as people mean it:
// money at a partner, a customer's money and a fee earned are all above zero, and so
// is the position in a currency that the service took in exchange for another.
func (c Class) IsDebitNormal() bool { return c == Asset || c == Expense }

// Known tells whether c is one of the classes.
func (c Class) Known() bool {
	return c == Asset || c == Liability || c == Income || c == Expense || c == Trading
}
