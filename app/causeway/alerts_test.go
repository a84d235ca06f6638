package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v3"
)

// A trial is the fault that an alert is for, as the series of the metrics that show it.
type trial struct {
	series []trialSeries
	// firing is how many alerts the fault raises; 1 if zero.
	firing int
}

// trialSeries is a series before the fault and during it: two values, or two steps by which a counter grows in each minute.
type trialSeries struct {
	name           string // with its labels
	before, during float64
	counts         bool
	// appears: there is no such series before the fault.
	appears bool
}

func gauge(name string, before, during float64) trialSeries {
	return trialSeries{name: name, before: before, during: during}
}

func counter(name string, before, during float64) trialSeries {
	return trialSeries{name: name, before: before, during: during, counts: true}
}

func appearing(name string, during float64) trialSeries {
	return trialSeries{name: name, during: during, appears: true}
}

// trials are the faults of all alerts. What is before each fault is as close to it as what must not raise the alert.
var trials = map[string][]trial{
	"CausewayProcessDown":         {{series: []trialSeries{gauge(`up{job="causeway"}`, 1, 0)}}},
	"CausewayDatabaseUnavailable": {{series: []trialSeries{counter(`causeway_operations_read_timestamp_seconds`, 60, 0)}}},
	"CausewayServerErrors": {{series: []trialSeries{
		counter(`causeway_http_request_duration_seconds_count{method="GET",route="/quotes",class="2xx"}`, 1000, 1000),
		counter(`causeway_http_request_duration_seconds_count{method="GET",route="/quotes",class="5xx"}`, 9, 11),
		counter(`causeway_http_request_duration_seconds_count{method="GET",route="/readyz",class="5xx"}`, 900, 0)}}},
	"CausewayCommandsRefused": {{series: []trialSeries{counter(`causeway_commands_refused_total{command="create quote"}`, 0, 1)}}},
	"CausewayBatchesSlow": {{series: []trialSeries{counter(`causeway_batch_wait_seconds_bucket{command="create quote",le="1"}`, 1000, 900),
		counter(`causeway_batch_wait_seconds_bucket{command="create quote",le="5"}`, 1000, 1000),
		counter(`causeway_batch_wait_seconds_bucket{command="create quote",le="+Inf"}`, 1000, 1000)}}},
	"CausewayConnectionsExhausted": {{series: []trialSeries{gauge(`causeway_database_connections_in_use{instance="a",pool="work"}`, 15, 16),
		gauge(`causeway_database_connections_max{instance="a",pool="work"}`, 16, 16)}}},
	"CausewayClockDiffers":              {{series: []trialSeries{gauge(`causeway_clock_offset_seconds{instance="a"}`, 1, -1.1)}}},
	"CausewayJobsDead":                  {{series: []trialSeries{gauge(`causeway_jobs_dead{step="deliver"}`, 0, 1)}}},
	"CausewayJobsLate":                  {{series: []trialSeries{gauge(`causeway_jobs_oldest_due_seconds{step="deliver"}`, 300, 301)}}},
	"CausewayTransactionsStuck":         {{series: []trialSeries{gauge(`causeway_transactions_stuck{state="PROCESSING"}`, 0, 1)}}},
	"CausewayUnmatchedFunds":            {{series: []trialSeries{gauge(`causeway_unmatched_funds{currency="EUR"}`, 0, 1)}}},
	"CausewaySafeguardingShortfall":     {{series: []trialSeries{gauge(`causeway_safeguarding_shortfalls`, 0, 1)}}},
	"CausewaySafeguardingReportMissing": {{series: []trialSeries{gauge(`causeway_safeguarding_report_age_seconds`, 93600, 93601)}}},
	"CausewayCommitsLost":               {{series: []trialSeries{gauge(`causeway_lost_commit_findings_open`, 0, 1)}}},
	"CausewayAssetOverdrawn":            {{series: []trialSeries{gauge(`causeway_ledger_overdrawn_assets`, 0, 1)}}},
	"CausewayReceivablesOld": {{series: []trialSeries{
		gauge(`causeway_receivables_oldest_seconds{environment="PRODUCTION",currency="EUR"}`, 7776000, 7776001),
		gauge(`causeway_receivables_oldest_seconds{environment="SANDBOX",currency="EUR"}`, 7776001, 7776001)}}},
	"CausewayRailProofDifference": {{series: []trialSeries{gauge(`causeway_rail_proof_difference{connections="bank",currency="EUR"}`, 0, 1)}}},
	"CausewayRailProofMissing": {{series: []trialSeries{gauge(`causeway_rail_proof_age_seconds`, 93600, 93601)}},
		{series: []trialSeries{gauge(`causeway_rail_proof_without_balance{connections="bank",currency="EUR"}`, 0, 1)}}},
	"CausewayRailPaymentsWait": {{series: []trialSeries{gauge(`causeway_rail_payments_oldest_seconds{wait="FUNDS"}`, 3600, 3601),
		gauge(`causeway_rail_payments_oldest_seconds{wait="OPENING"}`, 604800, 604800)}},
		{series: []trialSeries{gauge(`causeway_rail_payments_oldest_seconds{wait="OPENING"}`, 604800, 604801)}}},
	"CausewayRailPaymentsUnsettled": {{series: []trialSeries{
		gauge(`causeway_rail_payments_unsettled_oldest_seconds{connection="bank",currency="EUR"}`, 432000, 432001)}}},
	"CausewayRailPaused": {{series: []trialSeries{appearing(`causeway_rail_paused{name="bank"}`, 1)}}},
	"CausewayRailBalanceLow": {{series: []trialSeries{gauge(`causeway_rail_available{connection="bank",currency="EUR"}`, 1000, 999),
		gauge(`causeway_rail_paid_out{connection="bank",currency="EUR"}`, 1000, 1000),
		gauge(`causeway_rail_available{connection="other",currency="EUR"}`, 0, 0),
		gauge(`causeway_rail_paid_out{connection="other",currency="EUR"}`, 0, 0)}}},
	"CausewayRailFeedFails": {{series: []trialSeries{gauge(`causeway_rail_feed_age_seconds{connection="bank"}`, 900, 901)}},
		{series: []trialSeries{gauge(`causeway_rail_feed_failures{connection="bank"}`, 5, 6)}}},
	"CausewayRailReportsKeptAside": {{series: []trialSeries{gauge(`causeway_rail_feed_kept_aside{connection="bank"}`, 0, 1)}}},
	"CausewayBankNotices": {{series: []trialSeries{gauge(`causeway_bank_notices{connection="bank",kind="UNREAD"}`, 0, 1),
		gauge(`causeway_bank_notices{connection="bank",kind="CORRECTION"}`, 1, 1)}}},
	"CausewayRailStatementsRefused": {{series: []trialSeries{
		gauge(`causeway_rail_statements_refused_oldest_seconds{connection="bank"}`, 7200, 7201)}}},
	"CausewayRatesOld": {{series: []trialSeries{gauge(`causeway_rates_age_seconds`, 302400, 302401)}}},
	"CausewaySealLag":  {{series: []trialSeries{gauge(`causeway_ledger_seal_lag_seconds`, 600, 601)}}},
	"CausewayWebhooksLate": {{series: []trialSeries{gauge(`causeway_webhooks_oldest_seconds{queue="first"}`, 300, 301),
		gauge(`causeway_webhooks_oldest_seconds{queue="retry"}`, 301, 301)}}},
	"CausewayReviewsWait": {{series: []trialSeries{gauge(`causeway_reviews_oldest_seconds`, 86400, 86401)}},
		{series: []trialSeries{gauge(`causeway_screening_hits_oldest_seconds`, 86400, 86401)}}},
	"CausewayIdentityProviderFails": {{series: []trialSeries{
		counter(`causeway_identity_request_seconds_count{operation="submit",outcome="failed"}`, 1, 1),
		counter(`causeway_identity_request_seconds_count{operation="submit",outcome="ok"}`, 1, 0)}}},
	"CausewayNameChecksFail": {{series: []trialSeries{
		counter(`causeway_name_check_seconds_count{result="FAILED"}`, 1, 1),
		counter(`causeway_name_check_seconds_count{result="MATCH"}`, 1, 0)}}},
	// Time begins with zero: the last verification was as long ago when the fault begins as the rule allows.
	"CausewayBackupNotVerified": {{series: []trialSeries{gauge(`causeway_backup_verified_timestamp_seconds`, -683400, -683400)}}},
	"CausewayBackupNotUsable":   {{series: []trialSeries{gauge(`causeway_backup_verification_ok`, 1, 0)}}},
	"CausewayBackupOld": {{series: []trialSeries{gauge(`causeway_backup_age_seconds`, 172800, 172801)}},
		{series: []trialSeries{gauge(`causeway_backup_recovery_point_seconds`, 3600, 3601)}}},
	"CausewayMailsNotSent":   {{series: []trialSeries{gauge(`causeway_mail_oldest_waiting_seconds`, 300, 301)}}},
	"CausewayWebhooksFailed": {{series: []trialSeries{counter(`causeway_webhooks_failed_total`, 0, 1)}}},
	"CausewayVersionsDiffer": {{series: []trialSeries{gauge(`causeway_build_info{version="1",goversion="1",commit="a"}`, 1, 1),
		appearing(`causeway_build_info{version="2",goversion="1",commit="b"}`, 1)}}},
}

// alertRule is a rule of deploy/prometheus-rules.yml.
type alertRule struct {
	Alert string        `yaml:"alert"`
	Expr  string        `yaml:"expr"`
	For   time.Duration `yaml:"for"`
}

func alertRules(t *testing.T) []alertRule {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []alertRule `yaml:"rules"`
		} `yaml:"groups"`
	}
	if err := yaml.Unmarshal([]byte(readFile(t, deployFolder+"prometheus-rules.yml")), &file); err != nil {
		t.Fatal(err)
	}
	var rules []alertRule
	for _, group := range file.Groups {
		rules = append(rules, group.Rules...)
	}
	return rules
}

func TestAlerts_AllAreTried(t *testing.T) {
	t.Parallel()
	// Every rule has a trial, and every trial a rule. A trial uses series that the program has, with their labels.
	rules := alertRules(t)
	for _, rule := range rules {
		if len(trials[rule.Alert]) == 0 {
			t.Errorf("%s is not tried", rule.Alert)
		}
	}
	metrics, labels := metricNames(t), metricLabels()
	for alert, tried := range trials {
		if !slices.ContainsFunc(rules, func(r alertRule) bool { return r.Alert == alert }) {
			t.Errorf("there is no alert %s", alert)
		}
		for _, trial := range tried {
			for _, s := range trial.series {
				for _, name := range metricsIn(s.name) {
					if !slices.Contains(metrics, name) {
						t.Errorf("%s: there is no metric %s", alert, name)
					}
					if want, known := labels[name]; known && !slices.Equal(s.labels(), want) {
						t.Errorf("%s: %s has the labels %q, want %q", alert, name, s.labels(), want)
					}
				}
			}
		}
	}
}

// metricLabels returns the labels of the metrics of this package that alerts use.
func metricLabels() map[string][]string {
	registry := prometheus.NewRegistry()
	batches, identity := newBatchMetrics(registry), newIdentityMetrics(registry)
	descriptions := make(chan *prometheus.Desc, 1000)
	for _, c := range []prometheus.Collector{&operations{}, batches.waits, batches.refused, identity.requests, newJobMetrics(registry).dead,
		newMailMetrics(registry).oldest, newWebhookMetrics(registry, nil).abandoned} {
		c.Describe(descriptions)
	}
	close(descriptions)
	labels := map[string][]string{}
	for d := range descriptions {
		match := regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{(.*)\}\}`).FindStringSubmatch(d.String())
		labels[match[1]] = strings.FieldsFunc(match[2], func(r rune) bool { return r == ',' })
		slices.Sort(labels[match[1]])
	}
	return labels
}

// labels returns the labels of the series, without those that Prometheus adds and that of buckets.
func (s trialSeries) labels() []string {
	var names []string
	for _, match := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(s.name, -1) {
		if !slices.Contains([]string{"instance", "job", "le"}, match[1]) {
			names = append(names, match[1])
		}
	}
	slices.Sort(names)
	return names
}

// afterwards is how long a fault lasts beyond the time for which its condition must hold, so that the window of a rate has only it.
const afterwards = 70 * time.Minute

func TestAlerts_EachFaultRaisesItsAlert(t *testing.T) {
	t.Parallel()
	// Prometheus raises each alert for its fault: not before it, not before it has lasted for the time of the rule, and then until
	// it ends.
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed; install it with make needs-prometheus")
	}
	for _, rule := range alertRules(t) {
		for i, trial := range trials[rule.Alert] {
			t.Run(fmt.Sprintf("%s %d", rule.Alert, i), func(t *testing.T) {
				t.Parallel()
				folder := t.TempDir()
				rules, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "tried", "rules": []any{
					map[string]any{"alert": rule.Alert, "expr": rule.Expr, "for": rule.For.String()}}}}})
				if err != nil {
					t.Fatal(err)
				}
				test, err := yaml.Marshal(trial.promtoolTest(rule))
				if err != nil {
					t.Fatal(err)
				}
				for name, text := range map[string][]byte{"rules.yml": rules, "test.yml": test} {
					if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				run := exec.CommandContext(t.Context(), promtool, "test", "rules", filepath.Join(folder, "test.yml"))
				if out, err := run.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s\n%s", err, out, test)
				}
			})
		}
	}
}

// promtoolTest returns the trial in the form of promtool: the fault begins after the time in which the alert would have been raised
// without it, and ends again.
func (f trial) promtoolTest(rule alertRule) map[string]any {
	begins := rule.For + afterwards
	ends := begins + rule.For + afterwards
	var input []any
	for _, s := range f.series {
		input = append(input, map[string]string{"series": s.name,
			"values": s.values(int(begins.Minutes()), int((ends - begins).Minutes()))})
	}
	var samples []any
	for at, firing := range map[time.Duration]int{begins: 0, begins + rule.For/2: 0, ends - time.Minute: max(f.firing, 1)} {
		if at == begins+rule.For/2 && rule.For < 2*time.Minute {
			continue
		}
		samples = append(samples, map[string]any{"eval_time": at.String(),
			"expr":        `count(ALERTS{alertname="` + rule.Alert + `",alertstate="firing"}) or vector(0)`,
			"exp_samples": []any{map[string]any{"labels": "{}", "value": firing}}})
	}
	return map[string]any{"rule_files": []string{"rules.yml"}, "evaluation_interval": "1m",
		"tests": []any{map[string]any{"interval": "1m", "input_series": input, "promql_expr_test": samples}}}
}

// values returns the values in the notation of promtool, one for each minute.
func (s trialSeries) values(before, during int) string {
	number := func(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }
	switch {
	case s.appears:
		return fmt.Sprintf("_x%d %sx%d", before, number(s.during), during)
	case !s.counts:
		return fmt.Sprintf("%sx%d %sx%d", number(s.before), before, number(s.during), during)
	}
	reached := s.before * float64(before)
	return strings.Join([]string{fmt.Sprintf("0+%sx%d", number(s.before), before),
		fmt.Sprintf("%s+%sx%d", number(reached+s.during), number(s.during), during)}, " ")
}
