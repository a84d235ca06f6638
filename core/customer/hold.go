package customer

import (
	"fmt"
	"strings"
	"time"

	"causeway/core/fault"
)

// Held reports whether the customer was approved, and may not move money until an operator has judged
// the entries of sanctions lists that it or one of its owners resembles, or has released it.
func (c Customer) Held() bool { return !c.HeldAt.IsZero() }

// IsHeldByPerson reports whether a person has put the customer on hold: then only a person releases it.
func (c Customer) IsHeldByPerson() bool { return !c.OnHoldSince.IsZero() }

// OnHold is shown as the status of a customer who is held. It is stored as Pending.
const OnHold Status = "HOLD"

// ShownStatus returns the status that the platform sees.
func (c Customer) ShownStatus() Status {
	if c.Held() {
		return OnHold
	}
	return c.Status
}

// Hold returns an approved customer as one that is PENDING again, until it is released or sanctioned.
// Another one is returned as it is: it may move no money anyway.
func (c Customer) Hold(now time.Time) Customer {
	if c.Deleted() || c.Status != Approved {
		return c
	}
	c.Status, c.UpdatedAt = Pending, c.nextUpdateTime(now)
	c.HeldAt = c.UpdatedAt
	return c
}

// Release returns a customer whose hits are cleared as approved, if it was held for them alone, and another one as it is.
func (c Customer) Release(now time.Time) Customer {
	if c.Deleted() || !c.Held() || c.IsHeldByPerson() {
		return c
	}
	c.Status, c.HeldAt, c.UpdatedAt = Approved, time.Time{}, c.nextUpdateTime(now)
	return c
}

// PutOnHold returns the customer as a person holds it: until a person releases it, also if it is verified again meanwhile. Faults:
// CUSTOMER_DELETED; CONFLICT if it is on hold already, or was not approved and so moves no money.
func (c Customer) PutOnHold(now time.Time) (Customer, error) {
	switch {
	case c.Deleted():
		return c, c.errDeleted("it moves no money")
	case c.IsHeldByPerson() && c.Status != Approved:
		return c, fault.New(fault.Conflict, "The customer %s is on hold already. Nothing was changed.", c.ID)
	case c.Status != Approved && !c.Held():
		return c, fault.New(fault.Conflict, "The customer %s is %s and moves no money. Only one that is approved can be put on hold; decide "+
			"its verification instead.", c.ID, c.Status)
	}
	c = c.Hold(now)
	c.UpdatedAt = c.nextUpdateTime(now)
	c.OnHoldSince = c.UpdatedAt
	return c, nil
}

// TakeOffHold returns the customer as a person releases it. With hits that nobody has judged it is held for those. Faults:
// CUSTOMER_DELETED; CONFLICT if no person has put it on hold.
func (c Customer) TakeOffHold(hasOpenHits bool, now time.Time) (Customer, error) {
	switch {
	case c.Deleted():
		return c, c.errDeleted("it moves no money")
	case !c.IsHeldByPerson() && c.Held():
		return c, fault.New(fault.Conflict, "The customer %s is held by the screening. Decide its hits, which releases it.", c.ID)
	case !c.IsHeldByPerson():
		return c, fault.New(fault.Conflict, "The customer %s is not on hold. Nothing was changed.", c.ID)
	}
	c.OnHoldSince, c.UpdatedAt = time.Time{}, c.nextUpdateTime(now)
	if hasOpenHits {
		return c, nil
	}
	return c.Release(now), nil
}

// maxHoldReason leaves room for what a note says before the reason.
const maxHoldReason = MaxNote - 50

// HoldReason returns the reason for which a customer is put on hold or released, or INVALID_INPUT.
func HoldReason(text string) (string, error) {
	reason := strings.TrimSpace(text)
	switch n := len([]rune(reason)); {
	case n == 0:
		return "", fault.Invalid(fault.Field{Field: "reason", Message: "is required: say why, for who reviews the customer later"})
	case n > maxHoldReason:
		return "", fault.Invalid(fault.Field{Field: "reason", Message: fmt.Sprintf(
			"must have at most %d characters, and has %d", maxHoldReason, n)})
	}
	return reason, nil
}
