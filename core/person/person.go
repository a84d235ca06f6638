// Package person holds the people who work with the service: their roles, what these allow, and the rules for signing in.
//
// It checks no password and no code itself; it decides who may try, and what a session may do.
package person

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/core/diff"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
)

// Person is one who works with the service: for one platform, for several, or for all. A person is never deleted, because records
// name it.
type Person struct {
	ID ident.Person
	// Email is the address with which the person signs in, see NormalizeEmail. It belongs to no other person.
	Email  string
	Name   string
	Grants []Grant
	Status Status
	// TimeZone is that in which the person sees times, by its IANA name; empty for UTC.
	TimeZone string
	// CreatedAt is when the person was invited.
	CreatedAt, UpdatedAt time.Time
}

// UTC is the zone of a person who has not chosen another one.
const UTC = "UTC"

// Zone returns the time zone of the person.
func (p Person) Zone() string {
	if p.TimeZone == "" {
		return UTC
	}
	return p.TimeZone
}

// Status is the status of a person.
type Status string

// The statuses.
const (
	Invited  Status = "INVITED" // has not chosen a password yet
	Active   Status = "ACTIVE"
	Disabled Status = "DISABLED" // cannot sign in
)

// Role is what a person does.
type Role string

// The roles.
const (
	Viewer        Role = "VIEWER"
	Support       Role = "SUPPORT"
	Operator      Role = "OPERATOR"
	Finance       Role = "FINANCE"
	Compliance    Role = "COMPLIANCE"
	Administrator Role = "ADMINISTRATOR"
)

// Roles lists every role.
var Roles = []Role{Viewer, Support, Operator, Finance, Compliance, Administrator}

// Right is something that a role allows.
type Right string

// The rights.
const (
	// View allows to see payments, accounts and the ledger, with personal data masked.
	View Right = "VIEW"
	// ViewPersonalData allows to see names and accounts of customers and beneficiaries in full. Each time is recorded.
	ViewPersonalData Right = "VIEW_PERSONAL_DATA"
	// ViewConnections allows to see the connections to partners, their limits, and the jobs of the service.
	ViewConnections Right = "VIEW_CONNECTIONS"
	// ApproveBooks allows to approve what another person proposes for the books.
	ApproveBooks Right = "APPROVE_BOOKS"
	// KeepBooks allows to make changes of the books, or to propose those that need a second person.
	KeepBooks Right = "KEEP_BOOKS"
	// Review allows to decide verifications, hits of the screening and payments that wait for a decision.
	Review Right = "REVIEW"
	// Operate allows to stop and resume connections, and to retry and discard jobs.
	Operate Right = "OPERATE"
	// DecidePayments allows to release, cancel and move payments that wait at a connection.
	DecidePayments Right = "DECIDE_PAYMENTS"
	// Assist allows to send webhooks again, and to move payments of a sandbox on.
	Assist Right = "ASSIST"
	// ManageTokens allows to create and revoke tokens of the API.
	ManageTokens Right = "MANAGE_TOKENS"
	// ViewAudit allows to see who has done what.
	ViewAudit Right = "VIEW_AUDIT"
	// ManagePeople allows to see who has which role, and to change that.
	ManagePeople Right = "MANAGE_PEOPLE"
	// ManageService allows to create and change platforms, to replace keys, and to archive and erase.
	ManageService Right = "MANAGE_SERVICE"
)

// Rights lists every right.
var Rights = []Right{View, ViewPersonalData, ViewConnections, ApproveBooks, KeepBooks, Review, Operate, DecidePayments, Assist,
	ManageTokens, ViewAudit, ManagePeople, ManageService}

// rights are those of each role.
var rights = map[Role][]Right{
	Viewer:        {View},
	Support:       {View, ViewPersonalData, Assist},
	Operator:      {View, ViewConnections, Operate, DecidePayments, Assist},
	Finance:       {View, ApproveBooks, KeepBooks, ViewAudit},
	Compliance:    {View, ViewPersonalData, Review, ViewAudit},
	Administrator: Rights,
}

// Has reports whether a role has a right.
func (r Role) Has(right Right) bool { return slices.Contains(rights[r], right) }

// Grant is a role for one platform, or for all.
type Grant struct {
	Role     Role
	Platform ident.Platform // zero for all
}

// ParseGrant parses a role, or a role and the id of a platform, such as FINANCE@PlatformConfig:0190….
func ParseGrant(text string) (Grant, error) {
	name, platform, isForOne := strings.Cut(strings.TrimSpace(text), "@")
	g := Grant{Role: Role(strings.ToUpper(name))}
	if !slices.Contains(Roles, g.Role) {
		return g, fmt.Errorf("%q must be one of %s, alone or followed by @ and the id of a platform", text, roleNames())
	}
	if !isForOne {
		return g, nil
	}
	var err error
	if g.Platform, err = ident.ParsePlatform(platform); err != nil {
		return g, fmt.Errorf("%q: what follows @ %w", text, err)
	}
	return g, nil
}

// String returns the grant as ParseGrant reads it.
func (g Grant) String() string {
	if g.Platform.IsZero() {
		return string(g.Role)
	}
	return string(g.Role) + "@" + g.Platform.String()
}

func roleNames() string {
	all := make([]Grant, len(Roles))
	for i, r := range Roles {
		all[i].Role = r
	}
	return GrantTexts(all)
}

// New returns a person who is invited. Fault: INVALID_INPUT with every invalid field.
func New(id ident.Person, email, name string, grants []Grant, now time.Time) (Person, error) {
	p := Person{ID: id, Email: NormalizeEmail(email), Name: strings.TrimSpace(name), Status: Invited, CreatedAt: now, UpdatedAt: now}
	var bad party.Problems
	if !IsEmail(p.Email) {
		bad.Add("email", fmt.Sprintf("must be an e-mail address such as ana@example.com, of at most %d characters, all of them ASCII; "+
			"write the domain of another script in its form with xn--", maxEmail))
	}
	bad.PersonName("name", p.Name, party.Required)
	if len(grants) == 0 {
		bad.Add("roles", "must have at least one role of "+roleNames())
	}
	p.Grants = sorted(grants)
	return p, bad.Err()
}

// maxEmail is the length of the name of an actor, which the address of a person is in records.
const maxEmail = 200

// NormalizeEmail returns an address as it is stored and compared: two addresses that differ in the case of letters are one. Only
// letters of ASCII have a case here: strings.ToLower would make others, such as the sign of kelvin, letters of ASCII.
func NormalizeEmail(email string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, strings.TrimSpace(email))
}

// IsEmail reports whether a normalized address can be that of a person. It has printable characters of ASCII only, so that none
// looks like another one, and each has one form.
func IsEmail(email string) bool {
	notAllowed := func(r rune) bool { return r <= ' ' || r > '~' }
	return len(email) <= maxEmail && !strings.ContainsFunc(email, notAllowed) && party.IsEmail(email)
}

func sorted(grants []Grant) []Grant {
	own := slices.Clone(grants)
	slices.SortFunc(own, func(a, b Grant) int {
		if c := strings.Compare(string(a.Role), string(b.Role)); c != 0 {
			return c
		}
		return a.Platform.Compare(b.Platform)
	})
	return slices.Compact(own)
}

// May reports whether the person has a right on a platform. The zero platform is all of them. One who is not active has none,
// also with the session in which it chooses its password.
func (p Person) May(right Right, on ident.Platform) bool {
	if p.Status != Active {
		return false
	}
	return slices.ContainsFunc(p.Grants, func(g Grant) bool {
		return (g.Platform.IsZero() || g.Platform == on) && g.Role.Has(right)
	})
}

// WithSuccessor returns the person with its roles for a platform also for another one.
func (p Person) WithSuccessor(of, successor ident.Platform, now time.Time) Person {
	grants := slices.Clone(p.Grants)
	for _, g := range p.Grants {
		if g.Platform == of {
			grants = append(grants, Grant{g.Role, successor})
		}
	}
	p.Grants, p.UpdatedAt = sorted(grants), now
	return p
}

// Check returns FORBIDDEN if May is false.
func (p Person) Check(right Right, on ident.Platform) error {
	if p.May(right, on) {
		return nil
	}
	return fault.New(fault.Forbidden, "Your roles (%s) do not allow this. It needs the right %s, which an administrator can give you "+
		"with another role.", GrantTexts(p.Grants), right)
}

// GrantTexts returns roles as they are shown, such as "FINANCE, VIEWER@PlatformConfig:0190…".
func GrantTexts(grants []Grant) string {
	texts := make([]string, len(grants))
	for i, g := range grants {
		texts[i] = g.String()
	}
	return strings.Join(texts, ", ")
}

// Changed returns what an administrator decides about a person of which two versions differ. A person that is zero does not exist.
func Changed(before, after Person) []diff.Field {
	values := func(p Person) diff.Values {
		return diff.Values{"roles": GrantTexts(p.Grants), "status": string(p.Status)}
	}
	return diff.Between(values(before), values(after))
}

// WithGrants returns the person with other roles. Fault: INVALID_INPUT without a role.
func (p Person) WithGrants(grants []Grant, now time.Time) (Person, error) {
	if len(grants) == 0 {
		return p, fault.Invalid(fault.Field{Field: "roles", Message: "must have at least one role of " + roleNames()})
	}
	p.Grants, p.UpdatedAt = sorted(grants), now
	return p, nil
}

// Disable returns the person, who cannot sign in any more.
func (p Person) Disable(now time.Time) Person {
	p.Status, p.UpdatedAt = Disabled, now
	return p
}

// Enable returns the person after a new link was made, with which it chooses a password. What it has
// signed in with before, here or at a provider of single sign-on, does not count any more.
func (p Person) Enable(now time.Time) Person {
	p.Status, p.UpdatedAt = Invited, now
	return p
}

// Activate returns the person after it has chosen its password and second factor, or needs none to sign in. Fault: CONFLICT for
// one who is disabled.
func (p Person) Activate(now time.Time) (Person, error) {
	if p.Status == Disabled {
		return p, errDisabled
	}
	p.Status, p.UpdatedAt = Active, now
	return p, nil
}

var errDisabled = &fault.Error{Code: fault.Conflict, Reason: "Person disabled", Message: "This person is disabled. Ask an administrator."}

// NotFound returns NOT_FOUND.
func NotFound(email string) error {
	return fault.New(fault.NotFound, "There is no person with the e-mail address %s. List them with `causeway people list`.", email)
}

// Exists returns CONFLICT for an invitation of a person who exists.
func Exists(email string) error {
	f := fault.New(fault.Conflict, "%s is invited already. Change the roles with `causeway people set-roles`, or make a new link with "+
		"`causeway people link`.", email)
	f.Reason = "Person exists"
	return f
}
