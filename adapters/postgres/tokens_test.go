package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

func TestTokensByClientID_AcrossPlatforms(t *testing.T) {
	t.Parallel()
	// Tokens of several platforms are found in one call, with the environment of each; unknown
	// client ids are missing from the result.
	c := newEnv(t)
	ours, _ := newToken(t, c.platform, "ours", platform.Permissions...)
	theirs, _ := newToken(t, c.otherPlatform, "theirs", platform.View)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreateToken(ctx, ours); err != nil {
			return err
		}
		return tx.CreateToken(ctx, theirs)
	})

	found, err := c.TokensByClientID(t.Context(), []string{ours.ClientID, "nobody", theirs.ClientID, ours.ClientID, ""})

	want := map[string]ports.TokenWithEnvironment{
		ours.ClientID:   {Token: ours, Environment: platform.Sandbox},
		theirs.ClientID: {Token: theirs, Environment: platform.Sandbox},
	}
	if err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("found %+v, %v\nwant %+v", found, err, want)
	}

	// A deleted token is not found any more.
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.DeleteToken(ctx, c.platform.ID, ours.ID) })
	if found, err = c.TokensByClientID(t.Context(), []string{ours.ClientID}); err != nil || len(found) != 0 {
		t.Errorf("after its deletion: %+v, %v", found, err)
	}
	err = c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.DeleteToken(ctx, c.platform.ID, ours.ID) })
	if !fault.Is(err, fault.TokenNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
}

func TestUnit_TakingTokensAwayWaits(t *testing.T) {
	t.Parallel()
	// A unit of work that takes tokens away ends when what processes have read of them before is used no more.
	c := newEnv(t)
	token, _ := newToken(t, c.platform, "ours", platform.Permissions...)
	ana := newPerson(t, "ana@example.com")
	closed := c.otherPlatform
	closed.ClosedAt, closed.Successor = noon, c.platform.ID
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return errors.Join(tx.CreateToken(ctx, token), tx.CreatePerson(ctx, ana))
	})
	for _, step := range []struct {
		name string
		do   func(context.Context, *postgres.Unit) error
	}{
		{"disable a person", func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdatePerson(ctx, ana.Disable(noon)) }},
		{"delete a token", func(ctx context.Context, tx *postgres.Unit) error {
			return tx.DeleteToken(ctx, token.Platform, token.ID)
		}},
		{"close a platform", func(ctx context.Context, tx *postgres.Unit) error { return tx.ClosePlatform(ctx, closed) }},
	} {
		var worked time.Time
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
			defer func() { worked = time.Now() }()
			return step.do(ctx, tx)
		})
		if waited := time.Since(worked); waited < platform.TokenKept {
			t.Errorf("%s: ended after %s", step.name, waited)
		}
	}
}

func TestTokens_Filters(t *testing.T) {
	t.Parallel()
	// Filters apply to the list and its total; both bounds of an interval are tested.
	c := newEnv(t)
	var tokens []platform.Token
	for i, name := range []string{"web", "batch", "web"} {
		token, _ := newToken(t, c.platform, name, platform.View, platform.Manage)
		token.CreatedAt = noon.Add(time.Duration(i)*time.Hour + 345*time.Microsecond)
		tokens = append(tokens, token)
	}
	other, _ := newToken(t, c.otherPlatform, "web", platform.View)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		for _, token := range append(tokens, other) {
			if err := tx.CreateToken(ctx, token); err != nil {
				return err
			}
		}
		return nil
	})

	for name, test := range map[string]struct {
		filter ports.TokenFilter
		want   []platform.Token
	}{
		"all":             {ports.TokenFilter{}, []platform.Token{tokens[2], tokens[1], tokens[0]}},
		"by name":         {ports.TokenFilter{Name: "web"}, []platform.Token{tokens[2], tokens[0]}},
		"by another name": {ports.TokenFilter{Name: "we"}, nil},
		"since": {ports.TokenFilter{Created: period.Interval{From: noon.Add(time.Hour)}},
			[]platform.Token{tokens[2], tokens[1]}},
		"until the same milli": {ports.TokenFilter{Created: period.Interval{To: noon.Add(time.Hour + time.Millisecond)}},
			[]platform.Token{tokens[1], tokens[0]}},
		"until the milli before":  {ports.TokenFilter{Created: period.Interval{To: noon.Add(time.Hour)}}, []platform.Token{tokens[0]}},
		"updated later than ever": {ports.TokenFilter{Updated: period.Interval{From: noon.Add(time.Hour)}}, nil},
		"updated in its only milli": {ports.TokenFilter{Updated: period.Interval{From: noon, To: noon.Add(time.Millisecond)}},
			[]platform.Token{tokens[2], tokens[1], tokens[0]}},
	} {
		test.filter.Limit = 10
		page, err := c.Tokens(t.Context(), c.platform.ID, test.filter)

		if err != nil || page.More || page.Total != int64(len(test.want)) || !reflect.DeepEqual(page.Items, test.want) {
			t.Errorf("%s: %+v, %v\nwant %+v", name, page, err, test.want)
		}
	}
}

func TestTokens_ErrorInTheMiddleOfTheRows(t *testing.T) {
	t.Parallel()
	// A page that breaks off must not look like the end of the list.
	c := newEnv(t)
	last, _ := newToken(t, c.platform, "last", platform.View)
	first, _ := newToken(t, c.platform, "first", platform.View)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreateToken(ctx, last); err != nil {
			return err
		}
		return tx.CreateToken(ctx, first)
	})
	owner := pgtest.Connect(t, c.url)
	for _, statement := range []string{
		`ALTER TABLE tokens RENAME TO stored_tokens`,
		`CREATE VIEW tokens AS SELECT platform_id, id, name, permissions, client_id, secret_hash, created_at, person_id,
			creator_id, updated_at + make_interval(secs => 1 / (name <> 'last')::int) AS updated_at FROM stored_tokens`,
		`GRANT SELECT ON tokens TO causeway_service`,
	} {
		if _, err := owner.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}

	page, err := c.Tokens(t.Context(), c.platform.ID, ports.TokenFilter{Paging: ports.Paging{Limit: 10}})

	var failed *pgconn.PgError
	if !errors.As(err, &failed) || failed.Code != "22012" || len(page.Items) != 0 || page.Total != 0 {
		t.Errorf("%+v, %v, want nothing but the division by zero", page, err)
	}
	page, err = c.Tokens(t.Context(), c.platform.ID, ports.TokenFilter{Paging: ports.Paging{Limit: 10}, Name: "first"})
	if err != nil || len(page.Items) != 1 {
		t.Errorf("the row before: %+v, %v", page, err)
	}
}

func TestLockTokens_SerializesDeletes(t *testing.T) {
	t.Parallel()
	// Of two units of work that each delete a token which the other needs, the second sees the
	// deletion by the first.
	c := newEnv(t)
	first, _ := newToken(t, c.platform, "first", platform.Manage)
	second, _ := newToken(t, c.platform, "second", platform.Manage)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreateToken(ctx, first); err != nil {
			return err
		}
		return tx.CreateToken(ctx, second)
	})
	revoke := func(token platform.Token) error {
		return c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
			tokens, err := tx.LockTokens(ctx, c.platform.ID)
			if err != nil {
				return err
			}
			if err := platform.CheckRevocable(tokens, token.ID); err != nil {
				return err
			}
			return tx.DeleteToken(ctx, c.platform.ID, token.ID)
		})
	}

	results := make(chan error, 2)
	go func() { results <- revoke(first) }()
	go func() { results <- revoke(second) }()
	errs := []error{<-results, <-results}

	left, err := c.Tokens(t.Context(), c.platform.ID, ports.TokenFilter{Paging: ports.Paging{Limit: 10}})
	if err != nil || len(left.Items) != 1 {
		t.Errorf("%d tokens are left, %v", len(left.Items), err)
	}
	if refused := fault.Is(errs[0], fault.Conflict) || fault.Is(errs[1], fault.Conflict); !refused || (errs[0] != nil && errs[1] != nil) {
		t.Errorf("got %v and %v; want one conflict", errs[0], errs[1])
	}
}

func TestLockTokenCount_SerializesCreations(t *testing.T) {
	t.Parallel()
	// Of two units of work that count the tokens before each creates one, the second counts that of the first. Tokens of people and of
	// other platforms are counted apart.
	c := newEnv(t)
	ana := newPerson(t, "ana@example.com")
	hers, _ := newToken(t, c.platform, "Ana", platform.View)
	hers.Person = ana.ID
	theirs, _ := newToken(t, c.otherPlatform, "theirs", platform.View)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return errors.Join(tx.CreatePerson(ctx, ana), tx.CreateToken(ctx, hers), tx.CreateToken(ctx, theirs))
	})
	counted := make(chan int, 2)
	for _, name := range []string{"first", "second"} {
		token, _ := newToken(t, c.platform, name, platform.View)
		go func() {
			_ = c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
				n, err := tx.LockTokenCount(ctx, c.platform.ID, false)
				if err == nil {
					err = tx.CreateToken(ctx, token)
				}
				counted <- n
				return err
			})
		}()
	}

	if first, second := <-counted, <-counted; first+second != 1 {
		t.Errorf("counted %d and %d, want 0 and 1", first, second)
	}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		n, err := tx.LockTokenCount(ctx, c.platform.ID, true)
		if n != 1 {
			t.Errorf("%d tokens of people, want 1", n)
		}
		return err
	})
}

func tokenID(t platform.Token) uuid.UUID { return t.ID.UUID() }

func TestTokens_FullPageIsLast(t *testing.T) {
	t.Parallel()
	// A page with as many items as the list has no next page.
	c := newEnv(t)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		for i := range 4 {
			token, _ := newToken(t, c.platform, numberedName("token", i), platform.View)
			if err := tx.CreateToken(ctx, token); err != nil {
				return err
			}
		}
		return nil
	})

	for limit := 1; limit <= 5; limit++ {
		order, totals := readAllPages(t, ports.Paging{Limit: limit}, func(p ports.Paging) (ports.Page[platform.Token], error) {
			return c.Tokens(t.Context(), c.platform.ID, ports.TokenFilter{Paging: p})
		}, tokenID)

		if len(order) != 4 || !totals[4] || len(totals) != 1 {
			t.Errorf("by %d: %d tokens, totals %v", limit, len(order), totals)
		}
	}
}

func TestTokensOfNobody_OfProductionWithFourEyes(t *testing.T) {
	t.Parallel()
	// Tokens without a person and without one who answers count, on production platforms whose latest settings ask for four eyes.
	c := newEnv(t)
	owner := newPerson(t, "ana@example.com", person.Grant{Role: person.Finance})
	count := func() int64 {
		t.Helper()
		n, err := c.TokensOfNobody(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var made []platform.Token
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreatePerson(ctx, owner); err != nil {
			return err
		}
		for i := range 3 {
			token, _ := newToken(t, c.platform, "x", platform.View)
			switch i {
			case 1:
				token.Person = owner.ID
			case 2:
				token.Creator = owner.ID
			}
			made = append(made, token)
			if err := tx.CreateToken(ctx, token); err != nil {
				return err
			}
		}
		return nil
	})
	if count() != 0 {
		t.Error("counted without four eyes")
	}
	pgtest.ExecAsSuperuser(t, c.url, "UPDATE platforms SET environment = 'PRODUCTION'")
	settings := books.SettingsVersion{Settings: books.DefaultSettings(), Version: 1, At: noon, By: platform.Author{Actor: "ana"}}
	settings.FourEyes = []books.Action{books.ActionAdjustment}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.SaveBooksSettings(ctx, c.platform.ID, settings)
	})
	if n := count(); n != 1 {
		t.Errorf("counted %d", n)
	}
	made[0].Creator, made[0].UpdatedAt = owner.ID, noon.Add(time.Minute)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdateToken(ctx, made[0]) })
	if n := count(); n != 0 {
		t.Errorf("counted %d after one was named", n)
	}
}

func TestNameTokens_AlsoDeletedOnes(t *testing.T) {
	t.Parallel()
	// A token is named by what is stored of it or, after it was deleted, by the record of that. Tokens of other platforms have no name.
	c := newEnv(t)
	ana := newPerson(t, "ana@example.com", person.Grant{Role: person.Finance})
	service, _ := newToken(t, c.platform, "Backend", platform.View)
	gone, _ := newToken(t, c.platform, "Laptop", platform.View)
	gone.Person = ana.ID
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreatePerson(ctx, ana) })
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return errors.Join(tx.CreateToken(ctx, service), tx.RecordOperatorAction(ctx, platform.OperatorAction{ID: newIDAt(noon),
			Platform: c.platform.ID, Kind: platform.OperatorDeletedToken, Subject: gone.ID.UUID(), Actor: "ana", At: noon,
			Changes: platform.ChangedToken(gone, platform.Token{})}))
	})
	for p, want := range map[ident.Platform]string{
		c.platform.ID: fmt.Sprintf("service Backend, %s and Laptop of ana@example.com, %s", service.ID, gone.ID),
		{}:            fmt.Sprintf("%s and %s", service.ID, gone.ID),
	} {
		text, other := fmt.Sprintf("%s and %s", service.ID, gone.ID), "ana"
		if err := c.NameTokens(ports.ForAllPlatforms(t.Context()), p, &text, &other); err != nil || text != want || other != "ana" {
			t.Errorf("%s, %v; want %s", text, err, want)
		}
	}
}
