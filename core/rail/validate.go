package rail

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"causeway/core/corridor"
	"causeway/core/fault"
)

// Bounds of a connection.
const (
	MaxConnections  = 100
	MaxNote         = 500 // characters of the reason for a change
	maxPriority     = 1000
	maxPlatforms    = 1000
	maxSettings     = 100
	maxSettingName  = 64   // bytes
	maxSettingValue = 4096 // bytes
)

var (
	namePattern    = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)
	countryPattern = regexp.MustCompile(`^[A-Z]{2}$`)
	settingPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)
)

// Adapters returns every adapter.
func Adapters() []Adapter { return []Adapter{BankFile, Partner, EVM, Bitcoin, Lightning} }

// CheckName returns INVALID_INPUT unless the text can name a connection.
func CheckName(name string) error {
	if !namePattern.MatchString(name) {
		return fault.Invalid(fault.Field{Field: "name", Message: "must be 1 to 40 lower-case letters, digits and hyphens, and begin with a " +
			"letter, such as bank-eur"})
	}
	return nil
}

// CheckNote returns INVALID_INPUT unless the text can be the reason for a change or decision.
func CheckNote(note string) error {
	if n := utf8.RuneCountInString(note); n == 0 || n > MaxNote || !utf8.ValidString(note) || strings.ContainsFunc(note, unicode.IsControl) {
		return fault.Invalid(fault.Field{Field: "note", Message: fmt.Sprintf("must say why, in 1 to %d characters, none of them a control "+
			"character", MaxNote)})
	}
	return nil
}

// Check returns INVALID_INPUT with every bad field, by its name in the file of a connection. What the settings mean is
// checked by the adapter.
func (c Connection) Check(zones Zones) error {
	var bad []fault.Field
	refuse := func(field, format string, args ...any) {
		bad = append(bad, fault.Field{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	if err := CheckName(c.Name); err != nil {
		f, _ := fault.As(err)
		bad = append(bad, f.Fields...)
	}
	if !slices.Contains(Adapters(), c.Adapter) {
		refuse("adapter", "must be one of %s", joined(Adapters()))
	}
	c.checkRails(refuse)
	c.checkScope(refuse)
	for i, l := range c.Limits {
		c.checkLimit(i, l, refuse)
	}
	for i := range c.Schedules {
		c.checkSchedule(i, zones, refuse)
	}
	c.checkSettings(refuse)
	if len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	return nil
}

func (c Connection) checkRails(refuse func(field, format string, args ...any)) {
	if len(c.Rails) == 0 {
		refuse("rails", "must name at least one rail")
	}
	for i, r := range c.Rails {
		field := fmt.Sprintf("rails[%d]", i)
		switch {
		case !r.Known():
			refuse(field, "must be one of %s", joined(corridor.Rails()))
		case slices.Index(c.Rails, r) < i:
			refuse(field, "is listed twice")
		case neverCarried(r):
			refuse(field, "is a rail that no adapter carries")
		case c.Adapter == BankFile && r.IsChain():
			refuse(field, "is a chain, which %s does not carry", c.Adapter)
		case c.Adapter == Lightning && r != corridor.Lightning:
			refuse(field, "must be %s for %s", corridor.Lightning, c.Adapter)
		case (c.Adapter == EVM || c.Adapter == Bitcoin) && (!r.IsChain() || r == corridor.Lightning):
			refuse(field, "must be a chain for %s", c.Adapter)
		}
	}
	if len(c.Currencies) == 0 {
		refuse("currencies", "must name at least one currency")
	}
	for i, currency := range c.Currencies {
		field := fmt.Sprintf("currencies[%d]", i)
		switch {
		case !currency.Known():
			refuse(field, "must be a known currency, such as EUR")
		case slices.Index(c.Currencies, currency) < i:
			refuse(field, "is listed twice")
		}
	}
}

// checkScope checks the countries, platforms and priority.
func (c Connection) checkScope(refuse func(field, format string, args ...any)) {
	for i, country := range c.Countries {
		field := fmt.Sprintf("countries[%d]", i)
		switch {
		case !countryPattern.MatchString(country):
			refuse(field, "must be two capital letters of ISO 3166-1, such as DE")
		case slices.Index(c.Countries, country) < i:
			refuse(field, "is listed twice")
		}
	}
	if len(c.Platforms) > maxPlatforms {
		refuse("platforms", "must name at most %d platforms; none means every one", maxPlatforms)
	}
	for i, p := range c.Platforms {
		if p.IsZero() || slices.Index(c.Platforms, p) < i {
			refuse(fmt.Sprintf("platforms[%d]", i), "must be the id of a platform, and listed once")
		}
	}
	if !c.Unmatched.IsZero() && !c.ServesPlatform(c.Unmatched) {
		refuse("unmatched", "must be one of platforms")
	}
	if c.Priority < 0 || c.Priority > maxPriority {
		refuse("priority", "must be from 0 to %d", maxPriority)
	}
}

func (c Connection) checkLimit(i int, l Limit, refuse func(field, format string, args ...any)) {
	field := fmt.Sprintf("limits[%d]", i)
	if l.Rail != "" && !slices.Contains(c.Rails, l.Rail) {
		refuse(field+".rail", "must be one of rails, or omitted for all of them")
	}
	if !slices.Contains(c.Currencies, l.Currency) {
		refuse(field+".currency", "must be one of currencies")
	}
	if slices.IndexFunc(c.Limits, func(o Limit) bool { return o.Rail == l.Rail && o.Currency == l.Currency }) < i {
		refuse(field, "has the rail and currency of another limit")
	}
	if min(l.PerPayout, l.PerHour, l.PerDay) < 0 || max(l.PerPayout, l.PerHour, l.PerDay) == 0 {
		refuse(field, "must have perPayout, perHour or perDay above 0, in minor units")
	}
	if isBelow(l.PerHour, l.PerPayout) || isBelow(l.PerDay, l.PerHour) || isBelow(l.PerDay, l.PerPayout) {
		refuse(field, "must not have a longer period with a lower amount")
	}
}

// isBelow reports whether both limits are set and the first is the lower one.
func isBelow(a, b int64) bool { return a > 0 && b > 0 && a < b }

func (c Connection) checkSettings(refuse func(field, format string, args ...any)) {
	if len(c.Settings) > maxSettings {
		refuse("settings", "must be at most %d", maxSettings)
	}
	for _, name := range sortedKeys(c.Settings) {
		value, field := c.Settings[name], "settings."+name
		switch {
		case len(name) > maxSettingName || !settingPattern.MatchString(name):
			refuse(fmt.Sprintf("settings.%.64q", name), "must have a name of letters, digits, dots, hyphens and underscores")
		case len(value) > maxSettingValue || !utf8.ValidString(value) || strings.ContainsRune(value, 0):
			refuse(field, "must be a text of at most %d bytes", maxSettingValue)
		case HoldsSecret(name, value):
			refuse(field, "must not hold a secret: put it into a file and set file:/path, or into the environment and set env:NAME")
		}
	}
}
