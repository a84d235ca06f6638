package books

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/platform"
)

// UnrealisedResult is what happens to the unrealised exchange result of a month at the next opening.
type UnrealisedResult string

// The possible values.
const (
	Reverse UnrealisedResult = "REVERSE" // it is reversed
	Keep    UnrealisedResult = "KEEP"    // it stays, and the next month adds the change since
)

// FeeRecognition is when fees are income.
type FeeRecognition string

// The possible values.
const (
	AtConversion FeeRecognition = "CONVERSION"
	AtDelivery   FeeRecognition = "DELIVERY"
)

// Action is a change that may need four eyes: the approval of a second person.
type Action string

// The actions.
const (
	ActionAdjustment Action = "ADJUSTMENT"
	ActionAssignment Action = "ASSIGNMENT" // of unmatched funds
	ActionSoftClose  Action = "SOFT_CLOSE"
	ActionClose      Action = "CLOSE"
	ActionPrice      Action = "PRICE"
	ActionSettings   Action = "SETTINGS"
	ActionWriteOff   Action = "WRITE_OFF"
	ActionYearEnd    Action = "YEAR_END"
	ActionTreasury   Action = "TREASURY"
	ActionChart      Action = "CHART"      // accounts, codes of the general ledger, opening balances
	ActionRelease    Action = "RELEASE"    // of payments that wait at a connection
	ActionConnection Action = "CONNECTION" // settings of connections, and balances of them that are set by hand
)

// Actions lists every action.
func Actions() []Action {
	return []Action{ActionAdjustment, ActionAssignment, ActionSoftClose, ActionClose, ActionPrice, ActionSettings,
		ActionWriteOff, ActionYearEnd, ActionTreasury, ActionChart, ActionRelease, ActionConnection}
}

// Settings are the accounting policies of a platform.
type Settings struct {
	// FunctionalCurrency is the currency of the platform's result (IAS 21.8); empty if none is chosen.
	FunctionalCurrency money.Currency
	UnrealisedResult   UnrealisedResult
	FeeRecognition     FeeRecognition
	// YearEndMonth is the last month of a financial year.
	YearEndMonth time.Month
	// ReceivablesAllowance is what part of receivables is expected to be lost, by age; all zero if no allowance is made.
	ReceivablesAllowance AllowanceRates
	// FourEyes lists the actions that need a second person, in the order of Actions.
	FourEyes []Action
}

// DefaultSettings returns the settings of a platform that has not changed any.
func DefaultSettings() Settings {
	return Settings{UnrealisedResult: Reverse, FeeRecognition: AtConversion, YearEndMonth: time.December}
}

// NeedsFourEyes reports whether an action needs the approval of a second person. A change of the settings does
// as soon as any action does: otherwise one person could switch it off.
func (s Settings) NeedsFourEyes(a Action) bool {
	return slices.Contains(s.FourEyes, a) || a == ActionSettings && len(s.FourEyes) > 0
}

// RequireFunctionalCurrency returns the functional currency, or CONFLICT with what to do if none is chosen.
func (s Settings) RequireFunctionalCurrency() (money.Currency, error) {
	if s.FunctionalCurrency == "" {
		f := fault.New(fault.Conflict, "The platform has no functional currency. Set functionalCurrency with PUT /ledger/settings, `causeway "+
			"ledger settings set`, or on the page Settings of the books.")
		f.Reason = "No functional currency"
		return "", f
	}
	return s.FunctionalCurrency, nil
}

// Checked returns the settings with the actions in their order and once each, or INVALID_INPUT with all that
// is wrong.
func (s Settings) Checked() (Settings, error) {
	var bad []fault.Field
	if c := s.FunctionalCurrency; c != "" && (!c.Known() || c.IsCrypto()) {
		bad = append(bad, fault.Field{Field: "functionalCurrency", Message: "must be a currency of a state that the service knows, such as USD"})
	}
	if s.UnrealisedResult != Reverse && s.UnrealisedResult != Keep {
		bad = append(bad, fault.Field{Field: "unrealisedResult", Message: "must be REVERSE or KEEP"})
	}
	if s.FeeRecognition != AtConversion && s.FeeRecognition != AtDelivery {
		bad = append(bad, fault.Field{Field: "feeRecognition", Message: "must be CONVERSION or DELIVERY"})
	}
	if s.YearEndMonth < time.January || s.YearEndMonth > time.December {
		bad = append(bad, fault.Field{Field: "yearEndMonth", Message: "must be 1 to 12"})
	}
	if !s.ReceivablesAllowance.isValid() {
		bad = append(bad, fault.Field{Field: "receivablesAllowance", Message: allowanceForm})
	}
	ordered := []Action{}
	for _, a := range Actions() {
		if slices.Contains(s.FourEyes, a) {
			ordered = append(ordered, a)
		}
	}
	for i, a := range s.FourEyes {
		if !slices.Contains(ordered, a) {
			bad = append(bad, fault.Field{Field: fmt.Sprintf("fourEyes[%d]", i), Message: "must be one of " + actionNames()})
		}
	}
	if len(bad) > 0 {
		return Settings{}, fault.Invalid(bad...)
	}
	s.FourEyes = ordered
	return s, nil
}

func actionNames() string {
	var names []string
	for _, a := range Actions() {
		names = append(names, string(a))
	}
	return strings.Join(names, ", ")
}

// Equal reports whether two checked settings are the same.
func (s Settings) Equal(other Settings) bool {
	return slices.Equal(s.FourEyes, other.FourEyes) && s.FunctionalCurrency == other.FunctionalCurrency &&
		s.UnrealisedResult == other.UnrealisedResult && s.ReceivablesAllowance == other.ReceivablesAllowance &&
		s.FeeRecognition == other.FeeRecognition && s.YearEndMonth == other.YearEndMonth
}

// Fixed says which settings can no longer change, because postings rest on them.
type Fixed struct {
	Revalued   bool // a month was revalued, or something posted to fx/valuation: the functional currency
	YearClosed bool // a year was closed: its end
}

// CheckChange returns CONFLICT if a change of the settings is no longer possible.
func (s Settings) CheckChange(next Settings, fixed Fixed) error {
	var f *fault.Error
	switch {
	case fixed.Revalued && next.FunctionalCurrency != s.FunctionalCurrency && s.FunctionalCurrency != "":
		f = fault.New(fault.Conflict, "The functional currency stays %s: exchange results are posted in it.", s.FunctionalCurrency)
	case fixed.YearClosed && next.YearEndMonth != s.YearEndMonth:
		f = fault.New(fault.Conflict, "The last month of the financial year stays %s: years are closed by it.", s.YearEndMonth)
	default:
		return nil
	}
	f.Reason = "Setting in use"
	return f
}

// SettingsVersion is one version of the settings. It never changes. Version 0 are the defaults.
type SettingsVersion struct {
	Settings
	Version int
	At      time.Time
	By      platform.Author
	// Approval is that of four eyes; zero without.
	Approval platform.Approval
	Note     string // may be empty
}

// With returns the settings with changes such as "yearEndMonth=6", or INVALID_INPUT. The names are those of the
// API. An empty functionalCurrency is none; fourEyes lists actions separated by commas.
func (s Settings) With(changes ...string) (Settings, error) {
	var bad []fault.Field
	for _, change := range changes {
		name, value, _ := strings.Cut(change, "=")
		switch name {
		case "functionalCurrency":
			s.FunctionalCurrency = money.Currency(value)
		case "unrealisedResult":
			s.UnrealisedResult = UnrealisedResult(value)
		case "feeRecognition":
			s.FeeRecognition = FeeRecognition(value)
		case "yearEndMonth":
			month, err := strconv.Atoi(value)
			if err != nil {
				bad = append(bad, fault.Field{Field: name, Message: "must be 1 to 12"})
				continue
			}
			s.YearEndMonth = time.Month(month)
		case "receivablesAllowance":
			rates, err := ParseAllowanceRates(value)
			if err != nil {
				bad = append(bad, fault.Field{Field: name, Message: allowanceForm})
				continue
			}
			s.ReceivablesAllowance = rates
		case "fourEyes":
			s.FourEyes = nil
			for action := range strings.SplitSeq(value, ",") {
				if action != "" {
					s.FourEyes = append(s.FourEyes, Action(strings.TrimSpace(action)))
				}
			}
		default:
			bad = append(bad, fault.Field{Field: name, Message: "must be one of functionalCurrency, unrealisedResult, feeRecognition, " +
				"yearEndMonth, receivablesAllowance, fourEyes"})
		}
	}
	if len(bad) > 0 {
		return Settings{}, fault.Invalid(bad...)
	}
	return s.Checked()
}
