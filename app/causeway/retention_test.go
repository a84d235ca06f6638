package main

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/adapters/rails/bankfile"
	"causeway/adapters/rails/bitcoin"
	"causeway/adapters/rails/lightning"
)

func TestRetention_DefaultsAndCutoffs(t *testing.T) {
	t.Parallel()
	// Without settings, every kind of data has its documented retention; a setting moves its cutoff.
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	daysAgo := func(n int) time.Time { return now.AddDate(0, 0, -n) }
	defaults := postgres.RetentionCutoffs{Lookups: daysAgo(1), Responses: daysAgo(7), WebhookEvents: daysAgo(30), UnpaidQuotes: daysAgo(90),
		RailReplies: daysAgo(400), KYCLinks: daysAgo(30), Imports: daysAgo(90), Uploads: now.Add(-time.Hour), Invitations: daysAgo(365),
		EndlessInvitations: daysAgo(730), IdentityMessages: daysAgo(7), ScreeningRuns: daysAgo(365), WalletSessions: daysAgo(30),
		WalletCodes: daysAgo(30), UsedChallenges: now, RevokedCredentials: daysAgo(365), StrongAuthentication: daysAgo(500),
		Mails: daysAgo(30), DeviceCodes: daysAgo(30),
		AgentAttempts: daysAgo(400), Usage: daysAgo(400), MarketRates: daysAgo(3650), RailData: daysAgo(400), PartnerEvents: daysAgo(90),
		ReceiptPayers: daysAgo(1827), Samples: daysAgo(8), RequestLog: daysAgo(7), UMAPeers: daysAgo(90),
		WithoutPlatform: slices.Concat(bitcoin.OldRows(daysAgo(400)), lightning.OldRows(daysAgo(400)), bankfile.OldRows(daysAgo(730)),
			postgres.OldSampleTimes(daysAgo(8)),
			postgres.OldSignIns(now, now.Add(-24*time.Hour)))}
	changed := postgres.RetentionCutoffs{Lookups: daysAgo(1), Responses: daysAgo(8), WebhookEvents: daysAgo(9), UnpaidQuotes: daysAgo(31),
		RailReplies: daysAgo(32), KYCLinks: daysAgo(30), Imports: daysAgo(90), Uploads: now.Add(-time.Hour), Invitations: daysAgo(365),
		EndlessInvitations: daysAgo(730), IdentityMessages: daysAgo(7), ScreeningRuns: daysAgo(365), WalletSessions: daysAgo(30),
		WalletCodes: daysAgo(30), UsedChallenges: now, RevokedCredentials: daysAgo(365), StrongAuthentication: daysAgo(500),
		Mails: daysAgo(30), DeviceCodes: daysAgo(30),
		AgentAttempts: daysAgo(400), Usage: daysAgo(400), MarketRates: daysAgo(3650), RailData: daysAgo(400), PartnerEvents: daysAgo(90),
		ReceiptPayers: daysAgo(1827), Samples: daysAgo(8), RequestLog: daysAgo(2), UMAPeers: daysAgo(90),
		WithoutPlatform: slices.Concat(bitcoin.OldRows(daysAgo(32)), lightning.OldRows(daysAgo(32)), bankfile.OldRows(daysAgo(730)),
			postgres.OldSampleTimes(daysAgo(8)),
			postgres.OldSignIns(now, now.Add(-24*time.Hour)))}
	for _, test := range []struct {
		arguments []string
		want      postgres.RetentionCutoffs
	}{
		{nil, defaults},
		{[]string{"--idempotency-retention", "192h", "--webhook-retention", "216h", "--quote-retention", "744h", "--rail-reply-retention",
			"768h", "--request-log-retention", "48h"}, changed},
	} {
		flags := parseDev(t, test.arguments...)
		if err := flags.validate(); err != nil {
			t.Error(err)
		}
		if got := flags.cutoffs(now); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%v: %+v, want %+v", test.arguments, got, test.want)
		}
	}
}

func TestUsageSince_IsAfterEveryDeletedMonth(t *testing.T) {
	t.Parallel()
	// The day is the first of the month after the one that the retention has reached, also at the end of a year.
	for now, want := range map[string]string{"2026-06-01": "2025-05-01", "2026-01-15": "2025-01-01", "2026-02-04": "2025-01-01",
		"2026-02-05": "2025-02-01"} {
		at, err := time.Parse(time.DateOnly, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := usageSince(at); got != want {
			t.Errorf("on %s: %s, want %s", now, got, want)
		}
	}
}

func TestRetention_ReportsInvalidFlags(t *testing.T) {
	t.Parallel()
	// A retention below what the service needs, or above ten years, is refused by name; the limits
	// themselves are accepted.
	for setting, limits := range map[string][2]time.Duration{
		"--idempotency-retention": {168 * time.Hour, 720 * time.Hour},
		"--request-log-retention": {0, 2160 * time.Hour},
		"--webhook-retention":     {192 * time.Hour, 87600 * time.Hour},
		"--quote-retention":       {720 * time.Hour, 87600 * time.Hour},
		"--rail-reply-retention":  {720 * time.Hour, 87600 * time.Hour},
	} {
		for _, value := range []time.Duration{0, -time.Hour, limits[0] - 1, limits[0], limits[1], limits[1] + 1} {
			err := parseDev(t, fmt.Sprintf("%s=%s", setting, value)).validate()
			if slices.Contains(limits[:], value) && err != nil {
				t.Errorf("%s %s: %v", setting, value, err)
			}
			if !slices.Contains(limits[:], value) && (err == nil || !strings.HasPrefix(err.Error(), setting+" (CAUSEWAY_")) {
				t.Errorf("%s %s: %v, want an error that names the setting", setting, value, err)
			}
		}
	}
}

// parseDev returns the settings of causeway dev.
func parseDev(t *testing.T, arguments ...string) serverFlags {
	t.Helper()
	c := new(commands)
	parser, err := newParser(c, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(append([]string{"dev"}, arguments...)); err != nil {
		t.Fatal(err)
	}
	return c.Dev.serverFlags
}
