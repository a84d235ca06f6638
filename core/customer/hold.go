package customer

import "time"

// Held reports whether the customer was approved, and may not move money until an operator has judged
// the entries of sanctions lists that it or one of its owners resembles.
func (c Customer) Held() bool { return !c.HeldAt.IsZero() }

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

// Release returns a held customer as approved, and another one as it is.
func (c Customer) Release(now time.Time) Customer {
	if c.Deleted() || !c.Held() {
		return c
	}
	c.Status, c.HeldAt, c.UpdatedAt = Approved, time.Time{}, c.nextUpdateTime(now)
	return c
}
