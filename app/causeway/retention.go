package main

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"causeway/adapters/postgres"
	"causeway/adapters/rails/bankfile"
	"causeway/adapters/rails/bitcoin"
	"causeway/adapters/rails/lightning"
	"causeway/app/processes"
	"causeway/core/agent"
	"causeway/core/customer"
	"causeway/core/person"
)

// retentionFlags say how long data is kept that grows with every payment. The ledger, the
// transactions it belongs to, and receipts are kept for ever.
type retentionFlags struct {
	IdempotencyRetention time.Duration `name:"idempotency-retention" env:"CAUSEWAY_IDEMPOTENCY_RETENTION" default:"168h" help:"How long the response to a request is stored under its idempotency key, at least the 7 days that the API promises."`
	WebhookRetention     time.Duration `name:"webhook-retention" env:"CAUSEWAY_WEBHOOK_RETENTION" default:"720h" help:"How long webhook events and their attempts are kept after the last attempt, at least 8 days. Events still to be sent are kept longer."`
	QuoteRetention       time.Duration `name:"quote-retention" env:"CAUSEWAY_QUOTE_RETENTION" default:"2160h" help:"How long quotes that expired unpaid are kept, with their transactions, at least 30 days. A later payment with such a quote's reference becomes unmatched funds."`
	RequestLogRetention  time.Duration `name:"request-log-retention" env:"CAUSEWAY_REQUEST_LOG_RETENTION" default:"168h" help:"How long the log of API requests is kept, which platforms read: up to a day longer. 0 keeps none."`
	RequestLogBodies     string        `name:"request-log-bodies" env:"CAUSEWAY_REQUEST_LOG_BODIES" default:"failed" enum:"none,failed,all" help:"Of which requests the log keeps the bodies, masked: none, failed (those of production platforms that failed, and all of sandbox platforms), or all."`
	RailReplyRetention   time.Duration `name:"rail-reply-retention" env:"CAUSEWAY_RAIL_REPLY_RETENTION" default:"9600h" help:"How long failures and other replies of rails are shown in the timeline of a payment, at least 30 days. Those of open payments are kept longer."`
}

// maxRetention is ten years, which no law on payment records exceeds.
const maxRetention = 10 * 365 * 24 * time.Hour

// lookupRetention is far more than the ten minutes for which a lookup is valid.
const lookupRetention = 24 * time.Hour

const (
	importRetention = 90 * 24 * time.Hour
	// uploadRetention is more than an upload takes.
	uploadRetention     = time.Hour
	invitationRetention = 365 * 24 * time.Hour // after the end
	// endlessInvitationRetention is after the creation of one that does not expire.
	endlessInvitationRetention = 2 * 365 * 24 * time.Hour
	// identityMessageRetention is far more than the minutes for which a message is accepted.
	identityMessageRetention = 7 * 24 * time.Hour
	// partnerEventRetention is longer than a feed stands still, and than a partner repeats an event.
	partnerEventRetention = 90 * 24 * time.Hour
	// screeningRunRetention is how long it is shown when customers were screened.
	screeningRunRetention = 365 * 24 * time.Hour
	// walletSessionRetention is long after a session or request of a wallet has ended.
	walletSessionRetention = 30 * 24 * time.Hour
	// walletCodeRetention is how long wrong codes count after the expiry of the last code: much longer than the delay of a day
	// that follows many of them, so that waiting gives no more tries.
	walletCodeRetention = 30 * 24 * time.Hour
	// strongAuthenticationRetention is longer than the 13 months in which a payer may dispute a payment, and than a session counts.
	strongAuthenticationRetention = 500 * 24 * time.Hour
	revokedCredentialRetention    = 365 * 24 * time.Hour
	// umaPeerRetention is how long it is shown that payments were exchanged with another provider, after the last.
	umaPeerRetention = 90 * 24 * time.Hour
	// mailRetention is how long it is shown what became of a mail; its content is deleted at once.
	mailRetention = 30 * 24 * time.Hour
	// deviceCodeRetention is how long it is shown whether a device code was redeemed, after it has expired.
	deviceCodeRetention = 30 * 24 * time.Hour
	// agentRetention is that of the audit trail of agents, and of what they, and all payments with limits, have spent: more than a year.
	agentRetention = 400 * 24 * time.Hour
	// railDataRetention is that of the daily balances of connections, of what became of their statements, and of what an
	// operator discarded.
	railDataRetention = 400 * 24 * time.Hour
	// bankOrderRetention is longer than any bank returns a payment for: 13 months after a direct debit.
	bankOrderRetention = 2 * 365 * 24 * time.Hour
	// sampleRetention is a day longer than State shows samples.
	sampleRetention = processes.SamplesShown + 24*time.Hour
	// payerRetention is that of the accounts from which money of nobody was received: the five years for which the law on
	// money laundering asks for records of payments, see customer.YearsKept.
	payerRetention = (365*customer.YearsKept + 2) * 24 * time.Hour
)

// checkRetention reports invalid values with the name of their setting. The database enforces the
// minima of webhooks, quotes and replies too.
func (f retentionFlags) checkRetention(refuse func(setting, must string, got any)) {
	for _, s := range []struct {
		setting, must string
		value         time.Duration
		from, to      time.Duration
	}{
		{"--idempotency-retention (CAUSEWAY_IDEMPOTENCY_RETENTION)", "from 168h to 720h", f.IdempotencyRetention,
			168 * time.Hour, 720 * time.Hour},
		{"--webhook-retention (CAUSEWAY_WEBHOOK_RETENTION)", "from 192h to 87600h", f.WebhookRetention, 192 * time.Hour, maxRetention},
		{"--quote-retention (CAUSEWAY_QUOTE_RETENTION)", "from 720h to 87600h", f.QuoteRetention, 720 * time.Hour, maxRetention},
		{"--rail-reply-retention (CAUSEWAY_RAIL_REPLY_RETENTION)", "from 720h to 87600h", f.RailReplyRetention, 720 * time.Hour, maxRetention},
		{"--request-log-retention (CAUSEWAY_REQUEST_LOG_RETENTION)", "0, or up to 2160h", f.RequestLogRetention, 0, 2160 * time.Hour},
	} {
		if s.value < s.from || s.value > s.to {
			refuse(s.setting, s.must, s.value)
		}
	}
}

// kycLinkRetention is long after the link and its session have ended.
const kycLinkRetention = 30 * 24 * time.Hour

// cutoffs returns the times before which rows are deleted.
func (f retentionFlags) cutoffs(now time.Time) postgres.RetentionCutoffs {
	return postgres.RetentionCutoffs{
		Lookups: now.Add(-lookupRetention), RequestLog: now.Add(-f.RequestLogRetention), Responses: now.Add(-f.IdempotencyRetention),
		WebhookEvents: now.Add(-f.WebhookRetention), UnpaidQuotes: now.Add(-f.QuoteRetention), RailReplies: now.Add(-f.RailReplyRetention),
		Imports: now.Add(-importRetention), Uploads: now.Add(-uploadRetention), Invitations: now.Add(-invitationRetention),
		EndlessInvitations: now.Add(-endlessInvitationRetention), KYCLinks: now.Add(-kycLinkRetention),
		IdentityMessages: now.Add(-identityMessageRetention), ScreeningRuns: now.Add(-screeningRunRetention), Mails: now.Add(-mailRetention),
		DeviceCodes: now.Add(-deviceCodeRetention), AgentAttempts: now.Add(-agentRetention), Usage: now.Add(-agentRetention),
		WalletSessions: now.Add(-walletSessionRetention), WalletCodes: now.Add(-walletCodeRetention), UsedChallenges: now,
		MarketRates: now.Add(-maxRetention), RailData: now.Add(-railDataRetention), PartnerEvents: now.Add(-partnerEventRetention),
		ReceiptPayers: now.Add(-payerRetention), RevokedCredentials: now.Add(-revokedCredentialRetention), Samples: now.Add(-sampleRetention),
		UMAPeers: now.Add(-umaPeerRetention), StrongAuthentication: now.Add(-strongAuthenticationRetention),
		WithoutPlatform: slices.Concat(bitcoin.OldRows(now.Add(-f.RailReplyRetention)), lightning.OldRows(now.Add(-f.RailReplyRetention)),
			bankfile.OldRows(now.Add(-bankOrderRetention)), postgres.OldSampleTimes(now.Add(-sampleRetention)),
			postgres.OldSignIns(now, now.Add(-person.AttemptsRetention))),
	}
}

// usageSince returns the first day since which no usage of agents and limits is deleted soon: whole months are.
func usageSince(now time.Time) string {
	oldest := now.Add(-agentRetention).UTC()
	return agent.DayOf(time.Date(oldest.Year(), oldest.Month()+1, 1, 0, 0, 0, 0, time.UTC))
}

// repliesSince returns the time since which no reply of a rail is deleted: whatever the settings are, each stays for 30 days, and
// clocks differ.
func repliesSince(now time.Time) time.Time { return now.Add(-29 * 24 * time.Hour) }

// retentionTasks returns the tasks that delete old rows. After a change of a setting, or the first
// start, that takes long, so nothing else waits for them.
func (a *app) retentionTasks() []maintenanceTask {
	rows := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "causeway_retention_deleted_rows_total", Help: "Rows deleted because their retention ended, by table.",
	}, []string{"table"})
	a.metrics.MustRegister(rows)
	exports := maintenanceTask{name: "delete old exports", interval: 10 * time.Minute, run: a.exportFiles.DeleteOld}
	return []maintenanceTask{exports, {name: "delete old rows", interval: 10 * time.Minute, run: func(ctx context.Context) error {
		return a.db.DeleteOld(ctx, a.cutoffs(systemClock{}.Now()), func(table string, n int) { rows.WithLabelValues(table).Add(float64(n)) })
	}}}
}
