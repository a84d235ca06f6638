package wallet

import (
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
)

// Export records that the words of a wallet were given to the customer.
type Export struct {
	ID       uuid.UUID
	Platform ident.Platform
	Account  ident.InternalAccount
	// Session signed the request; zero in the sandbox, where none is needed.
	Session    ident.Session
	Credential ident.AuthMethod // of the session
	Request    ident.SignedRequest
	// Token sent the request.
	Token ident.Token
	At    time.Time
}
