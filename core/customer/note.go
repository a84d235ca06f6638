package customer

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
)

// Note is what a person has written about a customer. It is never changed, and erased with the customer.
type Note struct {
	ID       uuid.UUID
	Platform ident.Platform
	Customer ident.Customer
	Person   ident.Person
	// Author is the name of the person at that time.
	Author    string
	Content   string
	CreatedAt time.Time
}

// MaxNote is the length of a note, in characters.
const MaxNote = 2000

// NewNote returns a note about a customer. Faults: INVALID_INPUT; CUSTOMER_DELETED for a customer whose data was erased.
func NewNote(n Note, c Customer) (Note, error) {
	n.Content = strings.TrimSpace(n.Content)
	switch length := utf8.RuneCountInString(n.Content); {
	case length == 0:
		return n, fault.Invalid(fault.Field{Field: "content", Message: "is required"})
	case length > MaxNote:
		return n, fault.Invalid(fault.Field{Field: "content", Message: fmt.Sprintf("must have at most %d characters, and has %d",
			MaxNote, length)})
	case !c.ErasedAt.IsZero():
		return n, fault.New(fault.CustomerDeleted, "The data of the customer was erased, so nothing more is written about it.")
	}
	return n, nil
}
