package account

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/plaintext"
)

// CreateRequest is a request to register an external account.
type CreateRequest struct {
	ID       ident.ExternalAccount
	Platform ident.Platform
	// Customer owns the account; zero if the platform does.
	Customer ident.Customer
	// Agent is the agent of the customer that sends the request; zero for the platform.
	Agent             ident.Agent
	PlatformAccountID string
	Currency          string
	// Info is the object accountInfo as decoded JSON; nil if it was omitted or is no
	// object.
	Info              map[string]any
	DefaultUMADeposit bool
	// Ownership is who owns a wallet; empty if the request does not say so.
	Ownership OwnershipType
	// KnowsVASP reports whether a name is one of the directory of custodians; nil for one that has every name.
	KnowsVASP func(name string) bool
	// NamesBeneficiaries: the rules of the region ask for the names of those who are paid to wallets of theirs.
	NamesBeneficiaries bool
	// AcceptsTestValue reports whether value is a test value, so that its check digits or
	// the form of an address need not be right. If nil, there are no test values.
	AcceptsTestValue func(value string) bool
	// FormatOnly checks the format of identifiers and not their check digits.
	FormatOnly bool
	Now        time.Time
}

// Validate returns the account of a request, or INVALID_INPUT with every invalid field by its
// path ("accountInfo.beneficiary.fullName"). Fields that the type does not have are
// ignored.
func Validate(r CreateRequest) (External, error) {
	if r.ID.IsZero() || r.Platform.IsZero() {
		return External{}, errors.New("an external account needs an id and a platform")
	}
	v := validation{request: r}
	a := External{
		ID: r.ID, Platform: r.Platform, Customer: r.Customer, PlatformAccountID: r.PlatformAccountID,
		Currency: v.currency(), Ownership: r.Ownership, DefaultUMADeposit: r.DefaultUMADeposit, CreatedAt: r.Now, UpdatedAt: r.Now,
	}
	v.Text("platformAccountId", r.PlatformAccountID, party.Optional, 255)
	if r.DefaultUMADeposit && r.Customer.IsZero() {
		v.Add("defaultUmaDepositAccount", "is only for accounts of customers")
	}
	if r.DefaultUMADeposit && !r.Agent.IsZero() { // it would receive money that no limit of the agent counts
		v.Add("defaultUmaDepositAccount", "cannot be set by an agent; ask the platform to register the account")
	}
	if spec, ok := v.spec(); ok {
		v.checkCurrency(spec, a.Currency)
		a.Type = spec.Type
		a.Fields = v.fields(spec)
		if v.needsBeneficiary(spec) || spec.Individual != nil && v.request.Info["beneficiary"] != nil {
			a.Beneficiary = v.beneficiary(spec)
		}
		a.Rails = spec.railsFor(a.Fields)
		v.checkOwnership(spec, a)
		v.checkFieldCombinations(spec, a)
		v.checkName(a)
	}
	if err := v.Err(); err != nil {
		return External{}, err
	}
	a.Status = a.statusOfNew()
	return a, nil
}

// needsBeneficiary reports whether an account must name its owner: that of a wallet need not, unless it is somebody else and the rules
// ask who.
func (v *validation) needsBeneficiary(spec TypeSpec) bool {
	return spec.Individual != nil && (!spec.IsWallet() || v.request.Ownership == ThirdParty && v.request.NamesBeneficiaries)
}

func (v *validation) checkOwnership(spec TypeSpec, a External) {
	if name := a.VASP(); name != "" && v.request.KnowsVASP != nil && !v.request.KnowsVASP(name) {
		v.Add("accountInfo.vaspName", "is no name of the directory; take one of GET /vasps, in the same spelling")
	}
	if a.Ownership == "" {
		return
	}
	if !spec.IsWallet() {
		v.Add("ownershipType", "is for wallets only")
	} else if !slices.Contains(OwnershipTypes, a.Ownership) {
		v.AddRule("ownershipType", "must be FIRST_PARTY or THIRD_PARTY", "enum", OwnershipTypes)
	}
}

// checkName refuses a name of which no rail of the account can carry a letter: nobody could be paid by it.
func (v *validation) checkName(a External) {
	if a.Beneficiary == nil || a.Beneficiary.Name() == "" ||
		slices.ContainsFunc(a.Rails, func(on corridor.Rail) bool { return !on.IsLatin() }) ||
		plaintext.HasLetters(plaintext.Transliterate(a.Beneficiary.Name())) {
		return
	}
	name := "fullName"
	if a.Beneficiary.Type == Business {
		name = "legalName"
	}
	v.Add("accountInfo.beneficiary."+name, "is in a script that the rails of the account cannot carry; give it in Latin letters, as the "+
		"bank of the beneficiary has it")
}

type validation struct {
	request CreateRequest
	party.Problems
}

func (v *validation) acceptsTestValue(value string) bool {
	return v.request.AcceptsTestValue != nil && v.request.AcceptsTestValue(value)
}

func (v *validation) waivesCheckDigits(value string) bool {
	return v.request.FormatOnly || v.acceptsTestValue(value)
}

func (v *validation) currency() money.Currency {
	if v.request.Currency == "" {
		v.Add("currency", "is required")
		return ""
	}
	currency, err := money.ParsePayable(v.request.Currency)
	if err != nil {
		v.Add("currency", "must be a known currency code in capital letters, such as USD or BTC")
	}
	return currency
}

func (v *validation) spec() (TypeSpec, bool) {
	if v.request.Info == nil {
		v.Add("accountInfo", "is required, as an object with an accountType")
		return TypeSpec{}, false
	}
	if v.request.Info["accountType"] == nil || v.request.Info["accountType"] == "" {
		v.AddRule("accountInfo.accountType", "is required; one of "+strings.Join(typeNames(), ", "), "enum", typeNames())
		return TypeSpec{}, false
	}
	name := v.text(v.request.Info, "accountInfo", "accountType", party.Required)
	if name == "" {
		return TypeSpec{}, false
	}
	spec, ok := Spec(Type(name))
	if !ok {
		v.AddRule("accountInfo.accountType", "must be one of "+strings.Join(typeNames(), ", "), "enum", typeNames())
	}
	return spec, ok
}

func typeNames() []string {
	names := make([]string, len(catalogue))
	for i, spec := range catalogue {
		names[i] = string(spec.Type)
	}
	return names
}

func (v *validation) checkCurrency(spec TypeSpec, currency money.Currency) {
	if currency == "" || slices.Contains(spec.Currencies, currency) {
		return
	}
	codes := make([]string, len(spec.Currencies))
	for i, c := range spec.Currencies {
		codes[i] = string(c)
	}
	v.AddRule("currency", fmt.Sprintf("must be %s for %s, not %s", strings.Join(codes, " or "), spec.Type, currency), "enum", codes)
}

// fields parses and checks each of the type-specific fields.
func (v *validation) fields(spec TypeSpec) map[string]string {
	fields := make(map[string]string, len(spec.Fields))
	for _, field := range spec.Fields {
		path := "accountInfo." + field.Name
		if sent := v.request.Info[field.Name]; field.Required && len(field.Enum) > 0 && (sent == nil || sent == "") {
			v.AddRule(path, "is required; "+strings.Join(field.Enum, " or "), "enum", slices.Clone(field.Enum))
			continue
		}
		value := v.text(v.request.Info, "accountInfo", field.Name, party.Need(field.Required))
		if value == "" {
			continue
		}
		if field.normalize != nil {
			value = field.normalize(value)
		}
		fields[field.Name] = value
		v.checkField(path, field, value)
	}
	return fields
}

// text returns a string of a JSON object; empty if it is missing, null, or not a string.
func (v *validation) text(object map[string]any, path, name string, need party.Need) string {
	switch value := object[name].(type) {
	case string:
		if value == "" && need == party.Required {
			v.Add(path+"."+name, "is required")
		}
		return value
	case nil:
		if need == party.Required {
			v.Add(path+"."+name, "is required")
		}
	default:
		v.AddRule(path+"."+name, "must be a string", "type", "string")
	}
	return ""
}

// checkField checks one value against its spec, and reports its first error.
func (v *validation) checkField(path string, field FieldSpec, value string) {
	length := utf8.RuneCountInString(value)
	switch {
	case !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl) || strings.TrimSpace(value) == "":
		v.Add(path, "must be text without control characters")
	case len(field.Enum) > 0 && !slices.Contains(field.Enum, value):
		v.AddRule(path, "must be "+strings.Join(field.Enum, " or "), "enum", slices.Clone(field.Enum))
	case field.MaxLength > 0 && length > field.MaxLength:
		v.AddRule(path, fmt.Sprintf("must have at most %d characters", field.MaxLength), "maxLength", field.MaxLength)
	case length < field.MinLength:
		v.AddRule(path, fmt.Sprintf("must have at least %d characters", field.MinLength), "minLength", field.MinLength)
	case field.compiled != nil && !field.compiled.MatchString(value):
		message := "has an invalid format; expected: " + strings.TrimSuffix(field.Description, ".")
		if field.explain != nil {
			message = cmp.Or(field.explain(value), message)
		}
		v.AddRule(path, message, "pattern", field.Pattern)
	case field.check != nil:
		problem := field.check(value)
		if problem != "" && !v.acceptsTestValue(value) && !(problem == wrongCheckDigits && v.request.FormatOnly) {
			v.Add(path, problem)
		}
	}
}

// checkFieldCombinations checks several fields together. A field that has an error already
// does not get another.
func (v *validation) checkFieldCombinations(spec TypeSpec, a External) {
	hasError := make(map[string]bool, len(v.Fields))
	for _, field := range v.Fields {
		hasError[field.Field] = true
	}
	bad := func(name, message string) {
		if path := "accountInfo." + name; !hasError[path] {
			v.Add(path, message)
		}
	}

	present := 0
	for _, name := range spec.AnyOf {
		if a.Fields[name] != "" || hasError["accountInfo."+name] {
			present++
		}
	}
	choices := strings.Join(spec.AnyOf, ", ")
	switch {
	case len(spec.AnyOf) == 0:
	case present == 0 && spec.ExactlyOne:
		v.Add("accountInfo", "needs exactly one of "+choices)
	case present == 0:
		v.Add("accountInfo", "needs at least one of "+choices)
	case present > 1 && spec.ExactlyOne:
		v.Add("accountInfo", "must have only one of "+choices)
	}
	if spec.rule != nil {
		spec.rule(a, v.waivesCheckDigits, bad)
	}
}

// railsFor returns the rails that reach an account with these fields.
func (s TypeSpec) railsFor(fields map[string]string) []corridor.Rail {
	var rails []corridor.Rail
	for _, r := range s.rails {
		missing := slices.ContainsFunc(strings.Fields(r.requiredFields), func(name string) bool {
			name, without := strings.CutPrefix(name, "!")
			return (fields[name] == "") != without
		})
		only := fields["rail"]
		if !missing && (only == "" || only == string(r.rail)) && !slices.Contains(rails, r.rail) {
			rails = append(rails, r.rail)
		}
	}
	return rails
}
