package customer

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
)

// Contacts is what is known about the ways to reach a customer.
type Contacts struct {
	// Required: they have to be verified before the verification of the customer begins. It is set for customers that are created in a
	// region that requires it: those that exist already when a region begins to, or when the service was upgraded, go on as before.
	Required bool
	// Email and Phone were verified. One that is not that of the customer any more counts for nothing.
	Email, Phone VerifiedContact
}

// VerifiedContact is an e-mail address or a phone number whose owner has entered the code that was sent there.
type VerifiedContact struct {
	Address string
	At      time.Time
}

// Channel is a way to reach a customer.
type Channel string

// The channels.
const (
	EmailChannel Channel = "EMAIL"
	PhoneChannel Channel = "PHONE"
)

// channels lists every channel.
var channels = []Channel{EmailChannel, PhoneChannel}

// noun names a channel in messages.
func (ch Channel) noun() string {
	return map[Channel]string{EmailChannel: "e-mail address", PhoneChannel: "phone number"}[ch]
}

// field is the field of a customer with its address.
func (ch Channel) field() string {
	return map[Channel]string{EmailChannel: "email", PhoneChannel: "phoneNumber"}[ch]
}

// ContactStatus says whether a channel is verified.
type ContactStatus string

// The statuses.
const (
	ContactPending  ContactStatus = "PENDING"
	ContactVerified ContactStatus = "VERIFIED"
)

const (
	// ContactCodeLength is the number of digits of a code.
	ContactCodeLength = 6
	// ContactCodeLifetime is how long a code can be entered.
	ContactCodeLifetime = 10 * time.Minute
)

// ContactCodeID returns the id under which the code of a channel of a customer is stored, among those of wallets.
func ContactCodeID(c ident.Customer, ch Channel) (id ident.AuthMethod) {
	id.SetUUID(uuid.NewSHA1(c.UUID(), []byte(ch)))
	return id
}

// Contact returns the address or number of a channel; empty if the customer has none.
func (c Customer) Contact(ch Channel) string {
	if ch == PhoneChannel {
		return c.PhoneNumber
	}
	return c.Email
}

func (c *Customer) verified(ch Channel) *VerifiedContact {
	if ch == PhoneChannel {
		return &c.Contacts.Phone
	}
	return &c.Contacts.Email
}

// ContactStatus returns whether a channel is verified; empty if the customer does not have it.
func (c Customer) ContactStatus(ch Channel) ContactStatus {
	switch address := c.Contact(ch); address {
	case "":
		return ""
	case c.verified(ch).Address:
		return ContactVerified
	default:
		return ContactPending
	}
}

// VerifiedAt returns when a channel was verified; zero if it is not.
func (c Customer) VerifiedAt(ch Channel) time.Time {
	if c.ContactStatus(ch) != ContactVerified {
		return time.Time{}
	}
	return c.verified(ch).At
}

// VerifiedPhone returns the phone number of the customer; empty unless it is verified.
func (c Customer) VerifiedPhone() string {
	if c.ContactStatus(PhoneChannel) == ContactVerified {
		return c.PhoneNumber
	}
	return ""
}

// ShownBy returns the customer as its platform shows it.
func (c Customer) ShownBy(owner platform.Platform) Customer {
	c.NeedsSCA = owner.RequiresSCA(c.Region)
	return c
}

// CheckVerifiable returns CUSTOMER_DELETED, or CONFLICT if a channel cannot be verified: the region does not ask for it, there is no
// address, or it is verified.
func (c Customer) CheckVerifiable(ch Channel, owner platform.Platform) error {
	refuse := func(reason, format string, args ...any) error {
		return &fault.Error{Code: fault.Conflict, Reason: reason, Message: fmt.Sprintf("The customer "+c.ID.String()+" "+format, args...)}
	}
	switch {
	case c.Deleted():
		return c.errDeleted("its " + ch.noun() + " cannot be verified")
	case !owner.RequiresSCA(c.Region):
		return refuse("No verification", "has no contactVerification: its region, %q, does not require one.", c.Region)
	case c.Contact(ch) == "":
		return refuse("No "+ch.noun(), "has no %s. Add %s with PATCH /customers/%s.", ch.noun(), ch.field(), c.ID)
	case c.ContactStatus(ch) == ContactVerified:
		return refuse("Verified already", "has verified its %s already.", ch.noun())
	}
	return nil
}

// Verify returns the customer after it has entered the code that was sent over a channel.
func (c Customer) Verify(ch Channel, now time.Time) Customer {
	*c.verified(ch) = VerifiedContact{c.Contact(ch), now}
	c.UpdatedAt = c.nextUpdateTime(now)
	return c
}

// CheckContacts returns CONFLICT if the verification of the customer cannot begin, because one of its channels is not verified.
func (c Customer) CheckContacts(owner platform.Platform) error {
	if !c.Contacts.Required || !owner.RequiresSCA(c.Region) {
		return nil
	}
	var pending, operations []string
	for _, ch := range channels {
		if c.ContactStatus(ch) == ContactPending {
			pending = append(pending, ch.noun())
			operations = append(operations, fmt.Sprintf("POST /customers/%s/verify-%s", c.ID, strings.ToLower(string(ch))))
		}
	}
	if len(pending) == 0 {
		return nil
	}
	return &fault.Error{Code: fault.Conflict, Reason: "Contacts not verified", Message: fmt.Sprintf("The customer %s has to verify its %s "+
		"first. Send a code with %s.", c.ID, strings.Join(pending, " and its "), strings.Join(operations, " and "))}
}
