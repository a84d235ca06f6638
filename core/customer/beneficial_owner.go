package customer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
)

// BeneficialOwner is a person who owns or controls a business.
type BeneficialOwner struct {
	ID       ident.BeneficialOwner
	Platform ident.Platform
	Customer ident.Customer
	// Roles is sorted and has at least one role.
	Roles []OwnerRole
	// OwnershipPercentage is from 0 to 100.
	OwnershipPercentage int
	Person              PersonalInfo
	// Status is the KYC status of the person.
	Status Status
	// Check is the last check of the person.
	Check Check

	CreatedAt time.Time
	UpdatedAt time.Time
}

// Check is the check of a person.
type Check struct {
	// Application identifies the check; a decision on an earlier one changes nothing.
	Application uuid.UUID
	// Submitted: the application has arrived where it is checked.
	Submitted bool
	// Errors is what was found wrong, if it can be corrected or was rejected.
	Errors []CheckError
	// By is who decided, At when, and Reason why, for operators; zero before.
	By     string
	At     time.Time
	Reason string
}

// OwnerRole is what a beneficial owner is in the business.
type OwnerRole string

// The roles.
const (
	UltimateOwner  OwnerRole = "UBO"
	Director       OwnerRole = "DIRECTOR"
	CompanyOfficer OwnerRole = "COMPANY_OFFICER"
	ControlPerson  OwnerRole = "CONTROL_PERSON"
	Trustee        OwnerRole = "TRUSTEE"
	GeneralPartner OwnerRole = "GENERAL_PARTNER"
)

// OwnerRoles lists every role.
var OwnerRoles = []string{
	string(UltimateOwner), string(Director), string(CompanyOfficer), string(ControlPerson), string(Trustee), string(GeneralPartner),
}

// PersonalInfo identifies a person. MiddleName, Email and PhoneNumber may be empty, and
// CountryOfIssuance unless the identifier is a NON_US_TAX_ID. Countries are ISO 3166-1 alpha-2,
// BirthDate is YYYY-MM-DD.
type PersonalInfo struct {
	FirstName         string
	MiddleName        string
	LastName          string
	BirthDate         string
	Nationality       string
	Email             string
	PhoneNumber       string
	Address           party.Address
	IDType            string
	Identifier        string
	CountryOfIssuance string
}

// FullName returns the name in the order of a passport.
func (p PersonalInfo) FullName() string {
	return strings.Join(slices.DeleteFunc([]string{p.FirstName, p.MiddleName, p.LastName}, func(name string) bool { return name == "" }), " ")
}

// IsSamePerson reports whether both have the same name, birth date and identifier, with or without
// dashes.
func (p PersonalInfo) IsSamePerson(other PersonalInfo) bool {
	key := func(p PersonalInfo) [4]string {
		return [4]string{p.FullName(), p.BirthDate, p.IDType, strings.ReplaceAll(p.Identifier, "-", "")}
	}
	return key(p) == key(other)
}

// MaxBeneficialOwners is how many beneficial owners a customer can have.
const MaxBeneficialOwners = 50

// OwnerRequest is a request to add a beneficial owner. All but the optional fields of Person are
// required.
type OwnerRequest struct {
	Roles               []string
	OwnershipPercentage int
	Person              PersonalInfo
}

// NewBeneficialOwner returns a beneficial owner of a business, whose check begins. others are the
// owners that the business has. Faults: CUSTOMER_DELETED, CONFLICT for a person who is one of them or
// for too many, INVALID_INPUT with every invalid field.
func NewBeneficialOwner(r OwnerRequest, business Customer, others []BeneficialOwner, id ident.BeneficialOwner,
	now time.Time) (BeneficialOwner, error) {
	if id.IsZero() || business.ID.IsZero() {
		return BeneficialOwner{}, errors.New("a beneficial owner needs an id and a customer")
	}
	if err := business.checkHasOwners(); err != nil {
		return BeneficialOwner{}, err
	}
	for _, other := range others {
		if other.Person.IsSamePerson(r.Person) {
			return BeneficialOwner{}, &fault.Error{Code: fault.Conflict, Reason: "Same person",
				Details: map[string]any{"beneficialOwnerId": other.ID.String()},
				Message: "This person is a beneficial owner of the customer already: " + other.ID.String() + ". Update that one instead."}
		}
	}
	if len(others) >= MaxBeneficialOwners {
		return BeneficialOwner{}, fault.New(fault.Conflict, "The customer %s has %d beneficial owners, the maximum. Update one of them instead.",
			business.ID, len(others))
	}
	owner := BeneficialOwner{ID: id, Platform: business.Platform, Customer: business.ID, OwnershipPercentage: r.OwnershipPercentage,
		Person: r.Person, Status: Pending, CreatedAt: now, UpdatedAt: now}
	var bad party.Problems
	owner.Roles = parseOwnerRoles(r.Roles, &bad)
	owner.Person.validate("personalInfo", &bad, now)
	checkOwnership(owner, others, &bad)
	return owner, bad.Err()
}

// OwnerUpdate changes a beneficial owner; nil fields stay as they are. An empty optional field
// is cleared.
type OwnerUpdate struct {
	Roles               *[]string
	OwnershipPercentage *int
	Person              PersonUpdate
}

// Update returns the change of an owner to the data of the request.
func (r OwnerRequest) Update() OwnerUpdate {
	p := r.Person
	return OwnerUpdate{Roles: &r.Roles, OwnershipPercentage: &r.OwnershipPercentage, Person: PersonUpdate{
		FirstName: &p.FirstName, MiddleName: &p.MiddleName, LastName: &p.LastName, BirthDate: &p.BirthDate, Nationality: &p.Nationality,
		Email: &p.Email, PhoneNumber: &p.PhoneNumber, Address: &p.Address, IDType: &p.IDType, Identifier: &p.Identifier,
		CountryOfIssuance: &p.CountryOfIssuance,
	}}
}

// PersonUpdate changes personal data; nil fields stay as they are. So does an Identifier as
// MaskedIdentifier returns it.
type PersonUpdate struct {
	FirstName, MiddleName, LastName, BirthDate, Nationality, Email, PhoneNumber *string
	Address                                                                     *party.Address
	IDType, Identifier, CountryOfIssuance                                       *string
}

// Apply returns the changed owner, and whether the person must be checked again because what
// identifies the person has changed. others are the other owners of the business. Faults:
// CUSTOMER_DELETED, INVALID_INPUT with every invalid field.
func (o BeneficialOwner) Apply(u OwnerUpdate, business Customer, others []BeneficialOwner,
	now time.Time) (changed BeneficialOwner, check bool, err error) {
	if err := business.checkHasOwners(); err != nil {
		return o, false, err
	}
	var bad party.Problems
	changed = o
	if u.Roles != nil {
		changed.Roles = parseOwnerRoles(*u.Roles, &bad)
	}
	if u.OwnershipPercentage != nil {
		changed.OwnershipPercentage = *u.OwnershipPercentage
		checkOwnership(changed, others, &bad)
	}
	changed.Person = o.Person.apply(u.Person)
	changed.Person.validate("personalInfo", &bad, now)
	if err := bad.Err(); err != nil {
		return o, false, err
	}
	changed.UpdatedAt = now
	if check = changed.Person.identity() != o.Person.identity(); check {
		changed.Status, changed.Check = Pending, Check{}
	}
	return changed, check, nil
}

// identity is the person without what does not identify them.
func (p PersonalInfo) identity() PersonalInfo {
	p.Email, p.PhoneNumber = "", ""
	return p
}

func (p PersonalInfo) apply(u PersonUpdate) PersonalInfo {
	if u.Identifier != nil && *u.Identifier == p.MaskedIdentifier() {
		u.Identifier = nil
	}
	for _, field := range []struct{ stored, update *string }{
		{&p.FirstName, u.FirstName}, {&p.MiddleName, u.MiddleName}, {&p.LastName, u.LastName}, {&p.BirthDate, u.BirthDate},
		{&p.Nationality, u.Nationality}, {&p.Email, u.Email}, {&p.PhoneNumber, u.PhoneNumber},
		{&p.IDType, u.IDType}, {&p.Identifier, u.Identifier}, {&p.CountryOfIssuance, u.CountryOfIssuance},
	} {
		if field.update != nil {
			*field.stored = *field.update
		}
	}
	if u.Address != nil {
		p.Address = *u.Address
	}
	return p
}

// checkHasOwners returns CUSTOMER_DELETED, or INVALID_INPUT for a customer that is not a business.
func (c Customer) checkHasOwners() error {
	if c.Deleted() {
		return fault.New(fault.CustomerDeleted, "The customer %s is deleted.", c.ID)
	}
	if c.Type != Business {
		return fault.Invalid(fault.Field{Field: "customerId", Message: "must be the id of a BUSINESS; an individual has no beneficial owners"})
	}
	return nil
}

// parseOwnerRoles returns the roles, sorted.
func parseOwnerRoles(names []string, bad *party.Problems) []OwnerRole {
	if len(names) == 0 {
		bad.Add("roles", "must have at least one role")
	}
	roles := make([]OwnerRole, len(names))
	for i, name := range names {
		bad.OneOf(fmt.Sprintf("roles[%d]", i), name, party.Required, OwnerRoles)
		roles[i] = OwnerRole(name)
	}
	slices.Sort(roles)
	return slices.Compact(roles)
}

// checkOwnership checks the percentage of an owner, alone and with the other owners.
func checkOwnership(o BeneficialOwner, others []BeneficialOwner, bad *party.Problems) {
	const field = "ownershipPercentage"
	if o.OwnershipPercentage < 0 || o.OwnershipPercentage > 100 {
		bad.Add(field, "must be from 0 to 100")
		return
	}
	left := 100
	for _, other := range others {
		left -= other.OwnershipPercentage
	}
	if o.OwnershipPercentage > left {
		bad.AddRule(field, fmt.Sprintf("must be at most %d: the other owners of the customer have %d percent", max(left, 0), 100-left),
			"maximum", max(left, 0))
	}
}
