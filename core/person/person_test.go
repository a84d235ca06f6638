package person_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
)

var (
	noon          = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	anaID         = ident.NewPerson(func(time.Time) uuid.UUID { return uuid.UUID{15: 1} }, noon)
	platforms     = []ident.Platform{{}, platformID(1), platformID(2), platformID(3)}
	forEverything = []person.Grant{{Role: person.Administrator}}
)

func platformID(n byte) (id ident.Platform) {
	id.SetUUID(uuid.UUID{0: 1, 15: n})
	return id
}

// active returns a person with roles.
func active(t interface{ Fatal(...any) }, grants ...person.Grant) person.Person {
	p, err := person.New(anaID, "ana@example.com", "Ana Silva", grants, noon)
	if err == nil {
		p, err = p.Activate(noon)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// wantFields compares the fields of an INVALID_INPUT with those expected, by their prefixes.
func wantFields(t *testing.T, name string, err error, want ...string) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Code != fault.InvalidInput || len(f.Fields) != len(want) {
		t.Errorf("%s: %v, want %s of %q", name, err, fault.InvalidInput, want)
		return
	}
	for i, field := range f.Fields {
		if field.Field != want[i] {
			t.Errorf("%s: invalid fields %v, want %q", name, f.Fields, want)
		}
	}
}

func drawGrant() *rapid.Generator[person.Grant] {
	return rapid.Custom(func(t *rapid.T) person.Grant {
		return person.Grant{Role: rapid.SampledFrom(person.Roles).Draw(t, "role"), Platform: rapid.SampledFrom(platforms).Draw(t, "platform")}
	})
}

func TestGrant_RoundTrip(t *testing.T) {
	t.Parallel()
	// What String writes is what ParseGrant reads, in capital or small letters and with spaces around it.
	rapid.Check(t, func(t *rapid.T) {
		want := drawGrant().Draw(t, "grant")
		role, rest, isForOne := strings.Cut(want.String(), "@")
		if isForOne {
			rest = "@" + rest
		}
		for _, text := range []string{want.String(), strings.ToLower(role) + rest, " " + want.String() + "\n"} {
			if got, err := person.ParseGrant(text); err != nil || got != want {
				t.Fatalf("%q is %v, %v", text, got, err)
			}
		}
	})
}

func TestParseGrant_Refuses(t *testing.T) {
	t.Parallel()
	// What is no role, or no id of a platform, is refused with its text: no mistake makes a role one for all platforms.
	for _, text := range []string{"", "@", "ROOT", "VIEWER,FINANCE", "FINANCE@", "FINANCE@ ", "FINANCE@*", "FINANCE@PlatformConfig:",
		"FINANCE@PlatformConfig:00000000-0000-0000-0000-000000000000", "FINANCE@Customer:" + platforms[1].UUID().String(),
		"FINANCE@" + platforms[1].UUID().String(), "@" + platforms[1].String(), "FINANCE @" + platforms[1].String(),
		"FINANCE@" + platforms[1].String() + "@" + platforms[2].String()} {
		if got, err := person.ParseGrant(text); err == nil || text != "" && !strings.Contains(err.Error(), text) {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
	}
}

func TestPerson_MayByRole(t *testing.T) {
	t.Parallel()
	// The whole table of what each role allows.
	table := map[person.Role]string{
		person.Viewer:     "VIEW",
		person.Support:    "VIEW VIEW_PERSONAL_DATA ASSIST",
		person.Operator:   "VIEW VIEW_CONNECTIONS OPERATE DECIDE_PAYMENTS ASSIST",
		person.Finance:    "VIEW APPROVE_BOOKS KEEP_BOOKS VIEW_AUDIT",
		person.Compliance: "VIEW VIEW_PERSONAL_DATA REVIEW VIEW_AUDIT",
		person.Administrator: "VIEW VIEW_PERSONAL_DATA VIEW_CONNECTIONS APPROVE_BOOKS KEEP_BOOKS REVIEW OPERATE DECIDE_PAYMENTS ASSIST MANAGE_TOKENS " +
			"VIEW_AUDIT MANAGE_PEOPLE MANAGE_SERVICE",
	}
	if len(table) != len(person.Roles) {
		t.Errorf("there are %d roles", len(person.Roles))
	}
	for role, allowed := range table {
		for _, right := range append(slices.Clone(person.Rights), "", "OTHER") {
			if want := slices.Contains(strings.Fields(allowed), string(right)); role.Has(right) != want {
				t.Errorf("%s has %s: %t, want %t", role, right, !want, want)
			}
		}
	}
	if person.Role("ROOT").Has(person.View) || person.Role("").Has(person.View) {
		t.Error("what is no role has a right")
	}
}

func TestPerson_MayByPlatform(t *testing.T) {
	t.Parallel()
	// A role for one platform allows something there and nowhere else, in particular not on all platforms; a role for all
	// platforms allows it everywhere. Rights of several roles add up, each on its own platforms. Who is not active may nothing.
	rights := person.Rights
	rapid.Check(t, func(t *rapid.T) {
		p := active(t, rapid.SliceOfN(drawGrant(), 1, 6).Draw(t, "grants")...)
		disabled, invited := p.Disable(noon), p.Enable(noon)
		for _, right := range rights {
			for _, on := range platforms {
				want := false
				for _, g := range p.Grants {
					want = want || g.Role.Has(right) && (g.Platform.IsZero() || !on.IsZero() && g.Platform == on)
				}
				if p.May(right, on) != want || (p.Check(right, on) == nil) != want {
					t.Fatalf("%v: %s on %q: %t, want %t", p.Grants, right, on, !want, want)
				}
				if disabled.May(right, on) || invited.May(right, on) || disabled.Check(right, on) == nil {
					t.Fatalf("%v: %s on %q without being active", p.Grants, right, on)
				}
			}
		}
	})
}

func TestPerson_CheckSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	// The fault names the roles that the person has, and the right that it lacks.
	p := active(t, person.Grant{Role: person.Finance}, person.Grant{Role: person.Viewer, Platform: platforms[1]})
	err := p.Check(person.ViewPersonalData, platforms[1])
	if !fault.Is(err, fault.Forbidden) || !strings.Contains(err.Error(), "FINANCE, VIEWER@"+platforms[1].String()) ||
		!strings.Contains(err.Error(), "VIEW_PERSONAL_DATA") {
		t.Error(err)
	}
}

func TestNew_ListsEveryInvalidField(t *testing.T) {
	t.Parallel()
	// Everything that is wrong is reported at once; what is right is stored without spaces around it, each role once and sorted.
	_, err := person.New(anaID, "ana", "  ", nil, noon)
	wantFields(t, "everything", err, "email", "name", "roles")
	_, err = person.New(anaID, "", "Ana <b>", forEverything, noon)
	wantFields(t, "no address and a bad name", err, "email", "name")

	p, err := person.New(anaID, " Ana.Silva@Example.COM ", " Ana Silva ", []person.Grant{{Role: person.Viewer},
		{Role: person.Finance, Platform: platforms[2]}, {Role: person.Finance, Platform: platforms[1]}, {Role: person.Viewer}}, noon)
	if err != nil || p.Email != "ana.silva@example.com" || p.Name != "Ana Silva" || p.Status != person.Invited || !p.CreatedAt.Equal(noon) ||
		person.GrantTexts(p.Grants) != "FINANCE@"+platforms[1].String()+", FINANCE@"+platforms[2].String()+", VIEWER" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestEmail_AsciiOnly(t *testing.T) {
	t.Parallel()
	// An address has one form: letters of ASCII without their case. Letters that look like others, or become them, are refused, as
	// are invisible and control characters; a domain of another script has its form of ASCII.
	for text, want := range map[string]string{
		"Ana@Example.com":                         "ana@example.com",
		"\tANA@EXAMPLE.COM\n":                     "ana@example.com",
		"ana+console@xn--bcher-kva.example":       "ana+console@xn--bcher-kva.example",
		"o'neill@a-b.example":                     "o'neill@a-b.example",
		strings.Repeat("a", 188) + "@example.com": strings.Repeat("a", 188) + "@example.com",
	} {
		if got := person.NormalizeEmail(text); got != want || !person.IsEmail(got) {
			t.Errorf("%q is %q, valid: %t", text, got, person.IsEmail(got))
		}
	}
	for name, text := range map[string]string{
		"nothing":          "",
		"no domain":        "ana@",
		"no local part":    "@example.com",
		"two signs":        "ana@b@example.com",
		"Cyrillic a":       "\u0430na@example.com",
		"sign of kelvin":   "\u212aim@example.com",
		"capital dotted i": "\u0130vo@example.com",
		"full width":       "\uff41na@example.com",
		"domain":           "ana@b\u00fccher.example",
		"zero width":       "ana\u200b@example.com",
		"right to left":    "\u202eana@example.com",
		"soft hyphen":      "a\u00adna@example.com",
		"NUL":              "a\x00na@example.com",
		"bell":             "a\ana@example.com",
		"delete":           "a\x7fna@example.com",
		"not UTF-8":        "a\xffna@example.com",
		"space":            "a na@example.com",
		"no-break space":   "ana@example.com\u00a0x",
		"a list":           "ana@example.com,bo@example.com",
		"too long":         strings.Repeat("a", 189) + "@example.com",
	} {
		if person.IsEmail(person.NormalizeEmail(text)) {
			t.Errorf("%s: %q is an address", name, text)
		}
		_, err := person.New(anaID, text, "Ana Silva", forEverything, noon)
		wantFields(t, name, err, "email")
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		once := person.NormalizeEmail(text)
		if again := person.NormalizeEmail(once); again != once {
			t.Fatalf("%q is %q, and then %q", text, once, again)
		}
		if person.IsEmail(once) && strings.ToLower(once) != once {
			t.Fatalf("%q has capital letters", once)
		}
	})
}

func TestPerson_Statuses(t *testing.T) {
	t.Parallel()
	// Only a new link leads out of DISABLED; a change of roles needs one, and keeps the status.
	p := active(t, forEverything...)
	later := noon.Add(time.Hour)
	disabled := p.Disable(later)
	if _, err := disabled.Activate(later); !fault.Is(err, fault.Conflict) {
		t.Errorf("a disabled person was activated: %v", err)
	}
	if _, err := person.NewLink(disabled, person.SecretHash{}, false, later); !fault.Is(err, fault.Conflict) {
		t.Errorf("a disabled person has a link: %v", err)
	}
	enabled, err := disabled.Enable(later).Activate(later)
	if err != nil || enabled.Status != person.Active || !enabled.UpdatedAt.Equal(later) {
		t.Errorf("%+v, %v", enabled, err)
	}
	_, err = p.WithGrants(nil, later)
	wantFields(t, "no role", err, "roles")
	changed, err := disabled.WithGrants([]person.Grant{{Role: person.Viewer}, {Role: person.Viewer}}, later)
	if err != nil || changed.Status != person.Disabled || person.GrantTexts(changed.Grants) != "VIEWER" || !changed.UpdatedAt.Equal(later) {
		t.Errorf("%+v, %v", changed, err)
	}
	if person.GrantTexts(p.Grants) != "ADMINISTRATOR" {
		t.Errorf("the person before has %s", person.GrantTexts(p.Grants))
	}
}
