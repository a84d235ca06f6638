package postgres_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/core/ident"
	"causeway/ports"
)

func TestChangedReplies_AreComparedWithKeyedSeal(t *testing.T) {
	t.Parallel()
	// The seal of a reply is keyed, so that nobody can compute it who writes to the database alone. One without a key is
	// accepted only for what was written before there was a key. Without the master key, sealed replies are counted.
	c := newEnv(t)
	db, cipher := openWithCipher(t, c)
	if err := cipher.Create(t.Context(), ids.New().New(noon.Add(-2*time.Hour))); err != nil {
		t.Fatal(err)
	}
	reply := func(code string) ports.RailReply {
		outcome := ports.Outcome{Verdict: ports.Refused, PartnerID: "p-1", Code: code, Text: "closed", RetryAt: noon.Add(time.Minute),
			ExpectedAt: noon.Add(time.Hour)}
		subject := ident.NewTransaction(generator.New, noon).UUID()
		return ports.RailReply{Platform: c.platform.ID, Subject: subject, Call: ports.CallSend, At: noon.Add(time.Nanosecond), Outcome: outcome}
	}
	replies := []ports.RailReply{reply("AC04"), reply("AC06")}
	if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.SaveRailReplies(ctx, replies) }); err != nil {
		t.Fatal(err)
	}
	owner := connect(t, c.url)
	wantChanged := func(edit string, want ...string) {
		t.Helper()
		var changed []string
		compared, withoutKey, err := db.ChangedReplies(ports.ForAllPlatforms(t.Context()), ident.Platform{}, func(r ports.ChangedReply) error {
			changed = append(changed, r.Code)
			return nil
		})
		if err != nil || compared != 2 || withoutKey != 0 || !slices.Equal(changed, want) {
			t.Errorf("%s: changed are %q, want %q; %d compared, %d without a key, %v", edit, changed, want, compared, withoutKey, err)
		}
	}
	wantChanged("none")
	var seal string
	if err := owner.QueryRow(t.Context(), "SELECT seal FROM rail_replies WHERE partner_code = 'AC04'").Scan(&seal); err != nil ||
		!strings.HasPrefix(seal, "hmac-sha256:") {
		t.Fatalf("the seal is %q, %v", seal, err)
	}

	forged := replies[0]
	forged.Code = "AG01"
	exec(t, owner, "UPDATE rail_replies SET partner_code = 'AG01' WHERE partner_code = 'AC04'")
	wantChanged("a code", "AG01")
	exec(t, owner, "UPDATE rail_replies SET seal = $1 WHERE partner_code = 'AG01'", forged.Digest())
	wantChanged("a forged seal", "AG01")
	exec(t, owner, "UPDATE rail_replies SET seal = (SELECT seal FROM rail_replies WHERE partner_code = 'AC06') WHERE partner_code = 'AG01'")
	wantChanged("the seal of another reply", "AG01")
	forged.At = noon.Add(-24 * time.Hour) // before there was a key, and before the payment
	exec(t, owner, "UPDATE rail_replies SET seal = $1, replied_at = $2 WHERE partner_code = 'AG01'", forged.Digest(), forged.At)
	wantChanged("a time before the first key", "AG01")

	compared, withoutKey, err := c.DB.ChangedReplies(ports.ForAllPlatforms(t.Context()), ident.Platform{}, func(r ports.ChangedReply) error {
		t.Errorf("without the key: %+v", r)
		return nil
	})
	if err != nil || compared+withoutKey != 2 || withoutKey == 0 {
		t.Errorf("without the key: %d compared, %d not, %v", compared, withoutKey, err)
	}
}
