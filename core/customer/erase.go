package customer

import (
	"time"

	"causeway/core/fault"
)

// YearsKept is how long the records of a customer are kept after the end of the relation: the law on
// money laundering asks for five years (article 40 of Directive 2015/849), and the right to erasure
// does not apply to what it asks for (article 17(3)(b) of Regulation 2016/679).
const YearsKept = 5

// KeptUntil returns when the records of a deleted customer may be erased; zero if it is not deleted.
func (c Customer) KeptUntil() time.Time {
	if !c.Deleted() {
		return time.Time{}
	}
	return c.DeletedAt.AddDate(YearsKept, 0, 0)
}

// CheckErasable returns CONFLICT if the personal data of the customer may not be erased: it is not
// deleted, has money left, or must be kept. early is an operator's decision that it need not be kept.
func (c Customer) CheckErasable(left Funds, early bool, now time.Time) error {
	refuse := func(reason, message string) error {
		return &fault.Error{Code: fault.Conflict, Reason: reason, Message: "The customer " + c.ID.String() + " " + message}
	}
	switch {
	case !c.Deleted():
		return refuse("Not deleted", "is not deleted. Its platform deletes it with DELETE /customers/{customerId}.")
	case !c.ErasedAt.IsZero():
		return refuse("Already erased", "was erased at "+c.ErasedAt.Format(time.RFC3339)+".")
	case len(left.Balances) > 0:
		return refuse("Balance left", "has money on its accounts: "+left.Balances[0].String()+".")
	case !left.Unsettled.IsZero():
		return refuse("Payment not settled", "has the payment "+left.Unsettled.String()+", which is not settled.")
	case !early && now.Before(c.KeptUntil()):
		return refuse("Kept by law", "was deleted at "+c.DeletedAt.Format(time.RFC3339)+", and its records are kept until "+
			c.KeptUntil().Format(time.DateOnly)+
			". If no law asks you to keep them, erase them earlier with --now.")
	}
	return nil
}

// Erase returns the customer without personal data. What remains says nothing about who it was: the id,
// the type, the region, the currencies, the status and the times.
func (c Customer) Erase(now time.Time) Customer {
	_, host := SplitUMAAddress(c.UMAAddress)
	updated := c.nextUpdateTime(now)
	return Customer{
		ID: c.ID, Platform: c.Platform, PlatformCustomerID: c.ID.UUID().String(), Type: c.Type, Region: c.Region, Currencies: c.Currencies,
		UMAAddress: generatedUMAAddress(c.ID, host), Status: c.Status,
		CreatedAt: c.CreatedAt, UpdatedAt: updated, DeletedAt: c.DeletedAt, ErasedAt: updated,
	}
}

// Erased counts what was erased of a customer.
type Erased struct {
	Transactions, ExternalAccounts, BeneficialOwners, Verifications, Documents, Webhooks int
}
