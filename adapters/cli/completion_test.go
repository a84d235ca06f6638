package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func TestCompletions_CommandsFlagsAndValues(t *testing.T) {
	t.Parallel()
	// The last word is completed to the commands, flags or values that are possible there, and not where only its user knows it.
	var root struct {
		Jobs     JobsCommand     `cmd:""`
		Ledger   LedgerCommand   `cmd:""`
		Payouts  PayoutsCommand  `cmd:""`
		Platform PlatformCommand `cmd:""`
		Complete CompleteCommand `cmd:"" hidden:""`
	}
	parser, err := kong.New(&root)
	if err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]string{
		"":                                       "jobs ledger payouts platform",
		"p":                                      "payouts platform",
		"jobs":                                   "jobs",
		"jobs ":                                  "list retry discard",
		"ledger ba":                              "balances",
		"ledger treasury ":                       "transfer arrive settle list purpose",
		"ledger balances --ou":                   "--output",
		"ledger balances --output ":              "table csv json",
		"ledger balances --output c":             "csv",
		"ledger balances --output=c":             "--output=csv",
		"ledger balances --output =":             "table csv json", // as bash splits it
		"ledger balances --output = j":           "json",
		"ledger balances --output csv --outp":    "--output",
		"ledger treasury purpose rails/SEPA ":    "CLIENT OWN",
		"ledger treasury purpose --actor ana ":   "",
		"ledger balances --platform ":            "",
		"platform set --no":                      "--no-regulated --no-sca-payments",
		"platform set --regulated --act":         "--actor",
		"jobs list --state d":                    "dead",
		"unknown":                                "",
		"ledger balances --unknown ":             "",
		"jobs discard 0199f0a2 --reason list --": "ALL",
	} {
		got := completions(parser.Model.Node, strings.Split(words, " "))
		if want == "ALL" {
			if !slices.Contains(got, "--reason") || !slices.Contains(got, "--database-url") || slices.Contains(got, "list") {
				t.Errorf("%q: %q", words, got)
			}
		} else if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}
