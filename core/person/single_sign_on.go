package person

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/core/fault"
)

// Identity is who somebody is for a provider of single sign-on (OpenID Connect). Unlike an e-mail address it never changes hands.
type Identity struct{ Issuer, Subject string }

// Claims are what a provider says about who has signed in there.
type Claims struct {
	Identity
	Email           string
	IsEmailVerified bool
	Name            string
	// Roles are the values of the claim that has the roles; none if the claim is missing.
	Roles []string
	// AuthenticatedAt is when the person has signed in to the provider; zero if the provider does not say.
	AuthenticatedAt time.Time
}

// MappedRole is a role that a value of the claim with roles gives.
type MappedRole struct {
	Value string
	Grant Grant
}

// RoleMapping is which values of the claim give which roles. Without one, roles are those of the invitation.
type RoleMapping []MappedRole

// ParseRoleMapping parses entries such as payments-finance=FINANCE or eu-support=SUPPORT@PlatformConfig:0190….
func ParseRoleMapping(entries []string) (RoleMapping, error) {
	var mapping RoleMapping
	for _, entry := range entries {
		i := strings.LastIndex(entry, "=") // a value may have signs of equality, as names of a directory do; a role has none
		if i < 1 || strings.TrimSpace(entry[:i]) == "" {
			return nil, fmt.Errorf("%q must be a value of the claim, = and a role, such as payments-finance=FINANCE", entry)
		}
		grant, err := ParseGrant(entry[i+1:])
		if err != nil {
			return nil, err
		}
		mapping = append(mapping, MappedRole{strings.TrimSpace(entry[:i]), grant})
	}
	return mapping, nil
}

// Grants returns the roles that values of the claim give. A value is compared as it is.
func (m RoleMapping) Grants(values []string) []Grant {
	var grants []Grant
	for _, mapped := range m {
		if slices.Contains(values, mapped.Value) {
			grants = append(grants, mapped.Grant)
		}
	}
	return sorted(grants)
}

// maxIdentity is the length of what a provider calls somebody: OpenID Connect allows 255 characters.
const maxIdentity = 255

// FindBy returns how the person of claims is found if it has not signed in at the provider before: by its e-mail address, which the
// provider has to have verified, because one who could enter the address of another would be that one. Fault: UNAUTHORIZED.
func (c Claims) FindBy() (email string, err error) {
	if email = NormalizeEmail(c.Email); !c.IsEmailVerified || !IsEmail(email) {
		return "", notAdmitted("Your provider does not say which e-mail address is yours, or has not verified it.")
	}
	return email, nil
}

// Check returns UNAUTHORIZED for claims that name nobody.
func (c Claims) Check() error {
	if c.Issuer == "" || c.Subject == "" || len(c.Subject) > maxIdentity {
		return notAdmitted("Your provider does not say who you are.")
	}
	return nil
}

// Admit returns a person as it works after it has signed in at the provider, with its roles of now. known is who it is there; zero if it
// has not signed in there before. Faults: UNAUTHORIZED for one who is disabled, is somebody else there, or has no role any more.
func (p Person) Admit(known Identity, c Claims, mapping RoleMapping, now time.Time) (Person, error) {
	switch {
	case p.Status == Disabled:
		return p, notAdmitted("You are disabled here.")
	case known != Identity{} && known != c.Identity:
		return p, notAdmitted("Somebody else has signed in with your e-mail address before.")
	}
	if mapping != nil {
		grants := mapping.Grants(c.Roles)
		if len(grants) == 0 {
			return p, ErrNoRole
		}
		if !slices.Equal(grants, p.Grants) {
			p.Grants, p.UpdatedAt = grants, now
		}
	}
	if p.Status != Active {
		p.Status, p.UpdatedAt = Active, now
	}
	return p, nil
}

// CheckConfirmation checks that somebody who is known there has signed in at the provider anew, after it was asked to.
func (c Claims) CheckConfirmation(known Identity, askedAt time.Time) error {
	// Providers say the time in whole seconds.
	if known != c.Identity || c.AuthenticatedAt.Before(askedAt.Truncate(time.Second)) {
		return &fault.Error{Code: fault.Unauthorized, Reason: "Not confirmed", Message: "Your provider has not asked you to sign in again, or " +
			"somebody else has. Sign in there again as yourself."}
	}
	return nil
}

// ErrNoRole is the fault of a sign-in whose claim gives no role.
var ErrNoRole = notAdmitted("Your provider gives you no role for this service.")

// ErrNotInvited is the fault of a sign-in of somebody whom nobody has invited, where no claim gives roles.
var ErrNotInvited = notAdmitted("Nobody with your e-mail address is invited.")

// ErrSignInAtProvider is the fault of a sign-in with a password or a passkey of one who signs in at the provider.
var ErrSignInAtProvider = &fault.Error{Code: fault.Unauthorized, Reason: "Sign in at your provider", Message: "You sign in with single " +
	"sign-on. An administrator can make a link for you with which you sign in here again."}

// ErrConfirmAtProvider is the fault of what has to be confirmed by a person without an application for codes here.
var ErrConfirmAtProvider = &fault.Error{Code: fault.Unauthorized, Reason: "Not confirmed", Message: "Confirm that it is you: with single " +
	"sign-on, or with a passkey of this service."}

// ErrProvider is the fault of an answer of the provider that proves nothing.
var ErrProvider = &fault.Error{Code: fault.Unauthorized, Reason: "Single sign-on failed", Message: "Your provider's answer is not valid, " +
	"or belongs to another sign-in. Start again."}

func notAdmitted(why string) error {
	return &fault.Error{Code: fault.Unauthorized, Reason: "Not admitted", Message: why + " Ask an administrator of this service."}
}
