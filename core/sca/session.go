package sca

import (
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
)

// SessionLifetime is how long a login counts at most (article 10 of the regulation).
const SessionLifetime = 180 * 24 * time.Hour

// Session is what a login opens. While a customer has one, it may start payments, each of which it still authorises.
type Session struct {
	ID       ident.SCASession
	Platform ident.Platform
	Customer ident.Customer
	Factor   Factor
	// IPAddress is that of the customer, as the platform says.
	IPAddress string
	CreatedAt time.Time
	ExpiresAt time.Time
	EndedAt   time.Time // zero unless it was ended before
}

// Active reports whether the session counts.
func (s Session) Active(now time.Time) bool { return s.EndedAt.IsZero() && now.Before(s.ExpiresAt) }

// ErrSessionRequired is the fault of moving money without a session.
var ErrSessionRequired = &fault.Error{Code: fault.SCASessionRequired, Message: "The customer has to log in with strong customer " +
	"authentication first: POST /sca/login/start."}

// ErrNotRequired is the fault of what only customers do who need strong customer authentication.
var ErrNotRequired = &fault.Error{Code: fault.Conflict, Reason: "Strong customer authentication not required",
	Message: "The region of this customer does not require strong customer authentication."}
