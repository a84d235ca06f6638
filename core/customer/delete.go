package customer

import (
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
)

// Funds is the money of a customer that keeps it from being deleted.
type Funds struct {
	// Balances are those of the customer's internal accounts, without empty ones.
	Balances []money.Amount
	// Unsettled is a payment of the customer whose money has moved and has not reached its end; zero
	// if there is none.
	Unsettled ident.Transaction
	// Receivable is open: a collection was returned, and the customer owes it; zero if there is none.
	Receivable ident.Receivable
}

// Delete returns the deleted customer. Faults: CUSTOMER_DELETED; CONFLICT if there is money left, which
// nobody could move afterwards.
func (c Customer) Delete(left Funds, now time.Time) (Customer, error) {
	switch {
	case c.Deleted():
		return c, c.errDeleted("it cannot be deleted again")
	case len(left.Balances) > 0:
		balances := make(map[string]any, len(left.Balances))
		for _, b := range left.Balances {
			balances[string(b.Currency)] = b.Minor
		}
		return c, &fault.Error{
			Code: fault.Conflict, Reason: "Balance left",
			Message: "The customer " + c.ID.String() + " has money on its accounts. Pay it out, then delete the customer.",
			Details: map[string]any{"customerId": c.ID.String(), "balances": balances},
		}
	case !left.Unsettled.IsZero():
		return c, &fault.Error{
			Code: fault.Conflict, Reason: "Payment not settled",
			Message: "The payment " + left.Unsettled.String() + " of the customer is not settled. Delete the customer when it is.",
			Details: map[string]any{"customerId": c.ID.String(), "transactionId": left.Unsettled.String()},
		}
	}
	if !left.Receivable.IsZero() {
		return c, &fault.Error{
			Code: fault.Conflict, Reason: "Receivable open",
			Message: "The customer " + c.ID.String() + " owes money that was collected and returned: " + left.Receivable.String() +
				". Collect it, or write it off, then delete the customer.",
			Details: map[string]any{"customerId": c.ID.String(), "receivableId": left.Receivable.String()},
		}
	}
	c.DeletedAt = c.nextUpdateTime(now)
	c.UpdatedAt = c.DeletedAt
	return c, nil
}
