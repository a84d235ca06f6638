package platform_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
)

func webhookSecretID(n byte) (id ident.WebhookSecret) {
	id.SetUUID(uuid.UUID{15: n})
	return id
}

func TestRotateWebhookSecrets(t *testing.T) {
	t.Parallel()
	// A new secret is the current one, the previous one ends after the overlap, and a third is
	// refused until then. An overlap of zero ends the previous one at once.
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	first, err := platform.RotateWebhookSecrets(nil, webhookSecretID(1), time.Hour, now)
	if err != nil || len(first) != 1 || first[0] != (platform.WebhookSecret{ID: webhookSecretID(1), CreatedAt: now}) {
		t.Fatalf("first: %+v, %v", first, err)
	}

	both, err := platform.RotateWebhookSecrets(first, webhookSecretID(2), time.Hour, now)
	if err != nil || len(both) != 2 || both[0].ID != webhookSecretID(2) || !both[0].ValidUntil.IsZero() ||
		!both[1].ValidUntil.Equal(now.Add(time.Hour)) {
		t.Errorf("second: %+v, %v", both, err)
	}
	if !first[0].ValidUntil.IsZero() {
		t.Error("the argument was changed")
	}
	if _, err := platform.RotateWebhookSecrets(both, webhookSecretID(3), 0, now.Add(time.Hour-1)); !fault.Is(err, fault.Conflict) {
		t.Errorf("third: %v", err)
	}
	later, err := platform.RotateWebhookSecrets(both, webhookSecretID(3), 0, now.Add(time.Hour))
	if err != nil || len(later) != 1 || later[0].ID != webhookSecretID(3) {
		t.Errorf("third, after the overlap, with none of its own: %+v, %v", later, err)
	}
	for _, overlap := range []time.Duration{-1, platform.MaxWebhookSecretOverlap + 1} {
		if _, err := platform.RotateWebhookSecrets(first, webhookSecretID(2), overlap, now); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("overlap %s: %v", overlap, err)
		}
	}
}

func TestDeleteWebhookSecret(t *testing.T) {
	t.Parallel()
	// A valid secret can be deleted, also the current one and the last one; any other is not found.
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	secrets := []platform.WebhookSecret{{ID: webhookSecretID(2)}, {ID: webhookSecretID(1), ValidUntil: now.Add(time.Hour)},
		{ID: webhookSecretID(0), ValidUntil: now}}
	kept, err := platform.DeleteWebhookSecret(secrets, webhookSecretID(2), now)
	if err != nil || len(kept) != 1 || kept[0].ID != webhookSecretID(1) {
		t.Errorf("the current one: %+v, %v", kept, err)
	}
	if kept, err := platform.DeleteWebhookSecret(kept, webhookSecretID(1), now); err != nil || len(kept) != 0 {
		t.Errorf("the last one: %+v, %v", kept, err)
	}
	for _, n := range []byte{0, 9} {
		if _, err := platform.DeleteWebhookSecret(secrets, webhookSecretID(n), now); !fault.Is(err, fault.NotFound) {
			t.Errorf("secret %d: %v", n, err)
		}
	}
}

func TestWebhookSecrets_AtMostTwoValid(t *testing.T) {
	t.Parallel()
	// After any changes at most two secrets are valid, at most one has no end, and a secret ends
	// only at its time, by a deletion, or by a rotation without overlap.
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(1_000_000, 0)
		var secrets []platform.WebhookSecret
		for n := range byte(30) {
			now = now.Add(time.Duration(rapid.IntRange(0, 7200).Draw(t, "seconds")) * time.Second)
			before := platform.ValidWebhookSecrets(secrets, now)
			overlap := time.Duration(rapid.IntRange(0, 3600).Draw(t, "overlap")) * time.Second
			if len(before) > 0 && rapid.Bool().Draw(t, "delete") {
				secrets, _ = platform.DeleteWebhookSecret(secrets, before[0].ID, now)
				before = before[1:]
				overlap = time.Hour
			} else if next, err := platform.RotateWebhookSecrets(secrets, webhookSecretID(n+1), overlap, now); err == nil {
				secrets = next
			}
			current := 0
			for _, s := range secrets {
				if s.ValidUntil.IsZero() {
					current++
				}
			}
			if len(platform.ValidWebhookSecrets(secrets, now)) != len(secrets) || len(secrets) > 2 || current > 1 {
				t.Fatalf("%+v at %s", secrets, now)
			}
			for _, s := range before {
				kept := slices.ContainsFunc(secrets, func(k platform.WebhookSecret) bool { return k.ID == s.ID })
				if !kept && (overlap > 0 || !s.ValidUntil.IsZero()) {
					t.Fatalf("%s ended early: %+v", s.ID, secrets)
				}
			}
		}
	})
}

func TestWebhookSignatures_Names(t *testing.T) {
	t.Parallel()
	// Every selection of names is read back, none and unknown ones are refused.
	for bits := range 8 {
		var names []string
		for i, name := range platform.WebhookSignatureNames {
			if bits&(1<<i) != 0 {
				names = append(names, name)
			}
		}
		parsed, problem := platform.ParseWebhookSignatures(names)
		if (problem != "") != (bits == 0) || !slices.Equal(parsed.Names(), names) {
			t.Errorf("%v: %+v, %q", names, parsed, problem)
		}
	}
	if _, problem := platform.ParseWebhookSignatures([]string{"HMAC_SHA256", "RSA"}); problem == "" {
		t.Error("RSA is accepted")
	}
}
