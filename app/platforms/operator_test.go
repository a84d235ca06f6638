package platforms_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"causeway/app/internal/apptest"
	"causeway/app/platforms"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/sca"
)

func TestOperator_ReplacesLostCredentials(t *testing.T) {
	t.Parallel()
	// An operator creates a token that works and then deletes the lost one. Each change is recorded
	// with the name of the operator, that of the platform too.
	env := newEnv(t)
	ana := operator(t, env.platforms, platform.Author{Actor: " ana "})
	created := newBank(t, ana)
	id := created.Platform.ID

	issued, err := ana.CreateToken(t.Context(), id, "Replacement", platform.Permissions, platforms.TokenOwner{})
	if err != nil {
		t.Fatal(err)
	}
	if err := ana.DeleteToken(t.Context(), id, created.Token.ID); err != nil {
		t.Fatal(err)
	}

	principal, err := platforms.NewAuthenticator(env.Store).Authenticate(t.Context(), issued.Token.ClientID, issued.Secret)
	if err != nil || principal.Platform != id || len(principal.Permissions) != 3 {
		t.Errorf("the new token authenticates %+v, %v", principal, err)
	}
	got := env.QueryStrings(`SELECT action || ' ' || actor || ' ' || subject_id FROM operator_actions WHERE platform_id = $1 ORDER BY id`,
		id.UUID())
	if want := []string{"CREATE_PLATFORM ana " + id.UUID().String(), "CREATE_TOKEN ana " + issued.Token.ID.UUID().String(),
		"DELETE_TOKEN ana " + created.Token.ID.UUID().String()}; !slices.Equal(got, want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
}

func TestOperator_Set(t *testing.T) {
	t.Parallel()
	// An operator makes a platform regulated, once, and names the regions of strong customer authentication, or those of the law again,
	// with a record of each change; an unknown platform is not found.
	env := newEnv(t)
	ana := operator(t, env.platforms, platform.Author{Actor: "ana"})
	created := newBank(t, ana)
	id := created.Platform.ID

	for _, regulated := range []bool{true, true, false} {
		changed, err := ana.Set(t.Context(), id, platforms.OperatorChange{Regulated: &regulated})
		if err != nil || changed.Regulated != regulated {
			t.Fatalf("%+v, %v", changed, err)
		}
		if read, err := env.platforms.Settings(t.Context(), id); err != nil || read.Regulated != regulated {
			t.Errorf("read %t, %v; want %t", read.Regulated, err, regulated)
		}
	}
	for _, regions := range [][]string{{"FR", "DE"}, {}, {}, nil} {
		if _, err := ana.Set(t.Context(), id, platforms.OperatorChange{SCARegions: &regions}); err != nil {
			t.Fatal(err)
		}
		read, err := env.platforms.Settings(t.Context(), id)
		if want, _ := platform.ParseSCARegions(regions); err != nil || !reflect.DeepEqual(read.SCARegions, want) {
			t.Errorf("read %#v, %v; want %#v", read.SCARegions, err, want)
		}
	}
	exemptions := sca.Exemptions{LowValue: true}
	for _, change := range []platforms.OperatorChange{{SCAPayments: new(true)}, {SCAPayments: new(false)}, {SCAPayments: new(false)},
		{SCAExemptions: &exemptions}, {SCAExemptions: &exemptions}} {
		changed, err := ana.Set(t.Context(), id, change)
		read, readErr := env.platforms.Settings(t.Context(), id)
		if err != nil || readErr != nil || !read.SCAPaymentsSince.Equal(changed.SCAPaymentsSince) ||
			read.SCAExemptions != changed.SCAExemptions || change.SCAPayments != nil && *change.SCAPayments == read.SCAPaymentsSince.IsZero() ||
			change.SCAExemptions != nil && *change.SCAExemptions != read.SCAExemptions {
			t.Errorf("%+v: %+v, %v, %v", change, read, err, readErr)
		}
	}
	_, err := ana.Set(t.Context(), id, platforms.OperatorChange{SCARegions: &[]string{"Germany"}})
	apptest.WantFault(t, "no country", err, fault.InvalidInput, "regions")
	_, err = ana.Set(t.Context(), ident.NewPlatform(env.IDs.New, apptest.Noon), platforms.OperatorChange{Regulated: new(true)})
	apptest.WantFault(t, "unknown platform", err, fault.NotFound)

	got := env.QueryStrings(`SELECT action || ' ' || subject FROM operator_actions WHERE platform_id = $1 ORDER BY id`, id.UUID())
	if want := []string{"CREATE_PLATFORM ", "UPDATE_PLATFORM regulated true", "UPDATE_PLATFORM regulated false",
		"UPDATE_PLATFORM strong customer authentication for DE, FR", "UPDATE_PLATFORM strong customer authentication for no country",
		"UPDATE_PLATFORM strong customer authentication for the European Economic Area and the United Kingdom",
		"UPDATE_PLATFORM strong customer authentication of payments false",
		"UPDATE_PLATFORM exemptions from strong customer authentication: LOW_VALUE"}; !slices.Equal(got, want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
}

func TestOperator_RefusedActionsRecordNothing(t *testing.T) {
	t.Parallel()
	// A token of an unknown platform is not created, the last token with MANAGE is not deleted, and
	// without a name nothing is done.
	env := newEnv(t)
	ana := operator(t, env.platforms, platform.Author{Actor: "ana"})

	_, err := ana.CreateToken(t.Context(), ident.NewPlatform(env.IDs.New, apptest.Noon), "x", platform.Permissions, platforms.TokenOwner{})
	apptest.WantFault(t, "unknown platform", err, fault.NotFound)
	apptest.WantFault(t, "last token", ana.DeleteToken(t.Context(), env.admin.Platform, env.admin.Token), fault.Conflict)
	_, err = env.platforms.As(platform.Author{Actor: " "})
	apptest.WantFault(t, "no name", err, fault.InvalidInput, "actor")

	if got := env.QueryStrings(`SELECT action FROM operator_actions`); len(got) != 0 {
		t.Errorf("recorded %q", got)
	}
}

func TestOperator_ResponsibleForTokens(t *testing.T) {
	t.Parallel()
	// The token of a service has a person who answers for it: whom the operator names or, without, the operator who has signed in. A later
	// one is named and recorded. One who answers is behind what the token proposes. Without anybody, the token is counted on a production
	// platform with four eyes.
	env := newEnv(t)
	ana, ben := env.NewPerson(person.Finance), env.NewPerson(person.Finance)
	nobody := operator(t, env.platforms, platform.Author{Actor: "root"})
	signedIn := operator(t, env.platforms, platform.Author{Actor: ana.Email, Person: ana.ID})
	create := func(o *platforms.Operator, of platforms.TokenOwner) platform.Token {
		t.Helper()
		issued, err := o.CreateToken(t.Context(), env.admin.Platform, "x", platform.Permissions, of)
		if err != nil {
			t.Fatal(err)
		}
		stored, err := env.platforms.Token(t.Context(), env.admin.Platform, issued.Token.ID)
		if err != nil {
			t.Fatal(err)
		}
		return stored.Token
	}
	orphan := create(nobody, platforms.TokenOwner{})
	for name, c := range map[string]struct {
		got  platform.Token
		want ident.Person
	}{
		"nobody":        {orphan, ident.Person{}},
		"who is named":  {create(nobody, platforms.TokenOwner{Responsible: " " + strings.ToUpper(ben.Email)}), ben.ID},
		"who signed in": {create(signedIn, platforms.TokenOwner{}), ana.ID},
		"another":       {create(signedIn, platforms.TokenOwner{Responsible: ben.Email}), ben.ID},
	} {
		if c.got.Creator != c.want || c.got.Behind() != c.want || !c.got.Person.IsZero() {
			t.Errorf("%s: %+v, want %s", name, c.got, c.want)
		}
	}
	own := create(signedIn, platforms.TokenOwner{Person: ben.Email})
	if own.Person != ben.ID || !own.Creator.IsZero() {
		t.Errorf("of a person: %+v", own)
	}
	created, err := signedIn.CreatePlatform(t.Context(), platforms.CreateRequest{Name: "Bank", Environment: platform.Production})
	if err != nil || created.Token.Creator != ana.ID {
		t.Errorf("the first token: %+v, %v", created.Token, err)
	}

	changed, err := nobody.SetResponsible(t.Context(), env.admin.Platform, orphan.ID, ben.Email)
	if stored, readErr := env.platforms.Token(t.Context(), env.admin.Platform, orphan.ID); err != nil || readErr != nil ||
		changed.Creator != ben.ID || !reflect.DeepEqual(stored.Token, changed) {
		t.Errorf("stored %+v, %v; changed %+v, %v", stored, readErr, changed, err)
	}
	_, err = nobody.CreateToken(t.Context(), env.admin.Platform, "x", platform.Permissions, platforms.TokenOwner{Person: ben.Email,
		Responsible: ana.Email})
	apptest.WantFault(t, "both", err, fault.InvalidInput, "responsible")
	_, err = nobody.SetResponsible(t.Context(), env.admin.Platform, own.ID, ana.Email)
	apptest.WantFault(t, "the token of a person", err, fault.Conflict)
	_, err = nobody.SetResponsible(t.Context(), env.admin.Platform, orphan.ID, "nobody@people.test")
	apptest.WantFault(t, "nobody", err, fault.NotFound)
	_, err = nobody.SetResponsible(t.Context(), created.Platform.ID, orphan.ID, ana.Email)
	apptest.WantFault(t, "of another platform", err, fault.TokenNotFound)
	if got := env.QueryStrings(`SELECT subject || ' by ' || actor FROM operator_actions WHERE action = 'CHANGE_TOKEN'`); !slices.Equal(got,
		[]string{"responsible " + ben.Email + " by root"}) {
		t.Errorf("recorded %q", got)
	}
}

func TestTokensByPerson_RecordedWithThePerson(t *testing.T) {
	t.Parallel()
	// A person in the console creates the token of a service, which works and names the person as its creator, and deletes it. Both are
	// recorded with the person; what is refused is not.
	env := newEnv(t)
	root := operator(t, env.platforms, platform.Author{Actor: "root"})
	created, err := root.CreatePlatform(t.Context(), platforms.CreateRequest{Name: "Bank", Environment: platform.Production})
	if err != nil {
		t.Fatal(err)
	}
	id, ada := created.Platform.ID, env.NewPerson(person.Administrator, func(p *person.Person) { p.Email = "ada@acme.example" })

	issued, err := env.platforms.CreateTokenBy(t.Context(), id, ada, "checkout", []platform.Permission{platform.View})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := env.platforms.CreateTokenBy(t.Context(), id, ada, "nothing", nil); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a token without permissions: %v", err)
	}
	principal, err := platforms.NewAuthenticator(env.Store).Authenticate(t.Context(), issued.Token.ClientID, issued.Secret)
	if err != nil || principal.Platform != id {
		t.Errorf("the token authenticates %+v, %v", principal, err)
	}
	stored, err := env.platforms.Token(t.Context(), id, issued.Token.ID)
	if err != nil || stored.Token.Creator != ada.ID || !stored.Token.Person.IsZero() {
		t.Errorf("stored %+v, %v", stored.Token, err)
	}
	if err := env.platforms.DeleteTokenBy(t.Context(), id, ada, issued.Token.ID); err != nil {
		t.Fatal(err)
	}
	if err := env.platforms.DeleteTokenBy(t.Context(), id, ada, created.Token.ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("the last token that manages is deleted: %v", err)
	}
	got := env.QueryStrings(`SELECT action || ' ' || subject_id FROM operator_actions WHERE actor = 'ada@acme.example' ORDER BY id`)
	if want := []string{"CREATE_TOKEN " + issued.Token.ID.UUID().String(), "DELETE_TOKEN " +
		issued.Token.ID.UUID().String()}; !slices.Equal(got, want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
}
