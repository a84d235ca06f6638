package main

import (
	"fmt"
	"strconv"
)

// flow is one way that money of a funded account moves, as it was measured.
type flow struct {
	name, request string
	measurement
}

func (r results) flows() []flow {
	var all []flow
	for _, f := range r.payouts {
		all = append(all, flow{"Payouts", "`POST /quotes/{id}/execute`", f})
	}
	for _, m := range []flow{{"Transfers out", "`POST /transfer-out`", r.transfersOut}, {"Transfers in", "`POST /transfer-in`", r.transfersIn}} {
		if m.completed > 0 {
			all = append(all, m)
		}
	}
	return all
}

// flowBaseline are the runs of pgbench before and after payouts and transfers.
func (r results) flowBaseline() []float64 { return r.baselineTPS[max(0, len(r.baselineTPS)-2):] }

func (r results) flowsSection(moves []flow) section {
	s := section{
		title: "Payouts and transfers",
		prose: []string{
			fmt.Sprintf("From and to the internal accounts of %d customers, which hold money already. A payout is a quote (`POST /quotes`, dollars to bitcoin), "+
				"its execution, delivery, and the `COMPLETED` webhook; a transfer is one request that moves dollars to a bank account or pulls them from there, "+
				"until the `COMPLETED` webhook was accepted. Each also tells the new balance of the account, once for all that one commit changes in it. "+
				"Webhook: from the answer to that request on.", r.options.customers),
			fmt.Sprintf("`pgbench` ran before and after: %s transactions per second.", formatNumbers(r.flowBaseline(), " and ")),
		},
		columns: []string{"What", "Under way", "Per second", "per pgbench tx", "From beginning to end, " + latencyColumn, "`POST /quotes`", "Request that moves the money", "Webhook"},
	}
	for _, m := range moves {
		quoted := ""
		if m.quote != (latency{}) {
			quoted = m.quote.String()
		}
		s.rows = append(s.rows, []string{m.name, strconv.Itoa(m.inFlight), "**" + formatNumber(m.perSecond) + "**",
			fmt.Sprintf("**%.3f**", m.perSecond/mean(r.flowBaseline())), m.total.String(), quoted, m.request + " " + m.send.String(), m.webhook.String()})
	}
	return s
}

// flowCostSection tells what each of them costs.
func (r results) flowCostSection(moves []flow) section {
	s := section{
		title: "What a payout and a transfer cost",
		columns: []string{"What", "Under way", "Service", "Postgres", "Load generator", "Commits", "Transactions that write", "Syncs of the log", "Write-ahead log",
			"Processors that something else kept busy"},
	}
	for _, m := range moves {
		c := m.cost
		busy := fmt.Sprintf("%.2f", c.otherBusy)
		if warning := noiseWarning(c.otherBusy); warning != "" {
			busy += ", " + warning
		}
		s.rows = append(s.rows, []string{m.name, strconv.Itoa(m.inFlight), formatMicros(c.server), formatMicros(c.postgres), formatMicros(c.generator), fmt.Sprintf("%.2f", c.commits),
			fmt.Sprintf("%.2f", c.writes), fmt.Sprintf("%.2f", c.walSyncs), fmt.Sprintf("%.1f kB", c.walBytes/1000), busy})
	}
	return s
}

func (r results) hotAccountSection() section {
	many, one := median(r.hotAccount.many), median(r.hotAccount.one)
	return section{
		title: "One hot account",
		prose: []string{
			"Payouts from the accounts of all customers and payouts all from one account took turns in short runs; the medians are compared.",
		},
		columns: []string{"Figure", "Value", "Goal"},
		rows: [][]string{
			{fmt.Sprintf("Payouts/s, %d accounts", r.options.customers), formatNumbers(r.hotAccount.many, ", "), ""},
			{"Payouts/s, one account", formatNumbers(r.hotAccount.one, ", "), ""},
			{"One to many, medians", fmt.Sprintf("%.2f", one/many), fmt.Sprintf("at least %.0f %% of many: %s", 100*goalHotAccount, metOrMissed(one >= goalHotAccount*many))},
		},
	}
}

// balancesSentence says what was found of the accounts, if any were funded.
func (c finalChecks) balancesSentence() string {
	if c.accountsChecked == 0 {
		return ""
	}
	return fmt.Sprintf("Each of the %d accounts holds, to the cent, what was paid into it less what was paid out. ", c.accountsChecked)
}
