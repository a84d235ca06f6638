package rail_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
)

// bank returns a valid connection to a bank.
func bank() rail.Connection {
	return rail.Connection{Name: "bank-eur", Adapter: rail.BankFile, Version: 1, Rails: []corridor.Rail{corridor.SEPA, corridor.SEPAInstant},
		Currencies: []money.Currency{"EUR", "DKK"}, Limits: []rail.Limit{{Currency: "EUR", PerPayout: 100, PerDay: 1000}}}
}

func platformID(n byte) (p ident.Platform) {
	p.SetUUID([16]byte{0: 1, 15: n})
	return p
}

func TestCheck_AcceptsConnections(t *testing.T) {
	t.Parallel()
	// A connection with one rail and one currency is enough; limits, countries and platforms narrow it.
	full := bank()
	full.Schedules = []rail.Schedule{{Rail: corridor.SEPA, CutOff: "13:30", Holidays: []string{"2026-12-24"}, Hold: true},
		{Rail: corridor.SEPAInstant, Zone: "Asia/Kathmandu", Takes: time.Minute}}
	full.Countries, full.Platforms, full.Unmatched, full.Priority = []string{"DE", "FR"}, []ident.Platform{platformID(1)}, platformID(1), 10
	full.Settings = map[string]string{"password": "env:SFTP_PASSWORD", "privateKey": "file:/run/keys/sftp", "tokenContract": "0xA0b8",
		"url": "https://bank.example/in"}
	for _, c := range []rail.Connection{bank(), full, {Name: "base", Adapter: rail.EVM, Rails: []corridor.Rail{corridor.Base},
		Currencies: []money.Currency{"USDC"}}} {
		if err := c.Check(time.LoadLocation); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestCheck_ListsEveryBadField(t *testing.T) {
	t.Parallel()
	// Each rule that is broken is reported with its field.
	tests := map[string]struct {
		change func(*rail.Connection)
		want   []string
	}{
		"name and adapter": {func(c *rail.Connection) { c.Name, c.Adapter = "Bank", "FAX" }, []string{"name", "adapter"}},
		"nothing carried":  {func(c *rail.Connection) { c.Rails, c.Currencies, c.Limits = nil, nil, nil }, []string{"rails", "currencies"}},
		"rails": {func(c *rail.Connection) {
			c.Rails = []corridor.Rail{"SEPA", "SEPA", "FAX", corridor.Base, corridor.Layer2}
		}, []string{"rails[1]", "rails[2]", "rails[3]", "rails[4]"}},
		"another rail of a Lightning node": {func(c *rail.Connection) {
			c.Adapter, c.Rails = rail.Lightning, []corridor.Rail{corridor.Lightning, corridor.Bitcoin}
		}, []string{"rails[1]"}},
		"lightning over a wallet": {func(c *rail.Connection) {
			c.Adapter, c.Rails = rail.Bitcoin, []corridor.Rail{corridor.Bitcoin, corridor.Lightning}
		}, []string{"rails[1]"}},
		"chain over a bank's rail": {func(c *rail.Connection) { c.Adapter = rail.Bitcoin }, []string{"rails[0]", "rails[1]"}},
		"currencies": {func(c *rail.Connection) { c.Currencies = []money.Currency{"EUR", "EUR", "eur"} },
			[]string{"currencies[1]", "currencies[2]"}},
		"countries": {func(c *rail.Connection) { c.Countries = []string{"DE", "de", "DE"} },
			[]string{"countries[1]", "countries[2]"}},
		"platforms": {func(c *rail.Connection) {
			c.Platforms, c.Unmatched = []ident.Platform{platformID(1), {}, platformID(1)}, platformID(2)
		}, []string{"platforms[1]", "platforms[2]", "unmatched"}},
		"priority": {func(c *rail.Connection) { c.Priority = -1 }, []string{"priority"}},
		"schedules": {func(c *rail.Connection) {
			days := -1
			c.Schedules = []rail.Schedule{{Rail: corridor.SEPA, Zone: "Berlin"}, {Rail: corridor.SEPA, Calendar: "ECB", CutOff: "8"},
				{Rail: corridor.Wire, Opens: "18:00", Days: &days},
				{Rail: corridor.SEPAInstant, Takes: time.Minute, SettlesAt: "18:00", Holidays: []string{"Christmas"}}}
		}, []string{"schedules[0].zone", "schedules[1].rail", "schedules[1].calendar", "schedules[1].cutOff", "schedules[2].rail",
			"schedules[2].cutOff", "schedules[2].days",
			"schedules[3].takes", "schedules[3].holidays"}},
		"limit of another rail and currency": {func(c *rail.Connection) {
			c.Limits = []rail.Limit{{Rail: corridor.Wire, Currency: "USD", PerDay: 1}}
		}, []string{"limits[0].rail", "limits[0].currency"}},
		"limits": {func(c *rail.Connection) {
			c.Limits = []rail.Limit{{Currency: "EUR"}, {Currency: "EUR", PerHour: -1}, {Currency: "DKK", PerPayout: 3, PerDay: 2}}
		}, []string{"limits[0]", "limits[1]", "limits[1]", "limits[2]"}},
		"secrets": {func(c *rail.Connection) {
			c.Settings = map[string]string{"sftpPassword": "hunter2", "key": "-----BEGIN OPENSSH PRIVATE KEY-----",
				"url": "https://me:pw@bank.example", "a b": "x"}
		}, []string{`settings."a b"`, "settings.key", "settings.sftpPassword", "settings.url"}},
	}
	for name, tt := range tests {
		c := bank()
		tt.change(&c)

		err := c.Check(time.LoadLocation)

		f, ok := fault.As(err)
		if !ok || f.Code != fault.InvalidInput {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, field := range f.Fields {
			got = append(got, field.Field)
			if strings.Contains(field.Message, "hunter2") {
				t.Errorf("%s shows the secret: %s", name, field.Message)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: fields %q, want %q", name, got, tt.want)
		}
	}
}

func TestCheckNote(t *testing.T) {
	t.Parallel()
	// A reason is one line of up to 500 characters.
	for note, valid := range map[string]bool{"new bank": true, "": false, "a\nb": false, strings.Repeat("é", 500): true,
		strings.Repeat("é", 501): false} {
		if err := rail.CheckNote(note); (err == nil) != valid {
			t.Errorf("%.20q: %v", note, err)
		}
	}
}
