package main

import (
	"fmt"
	"strconv"
)

// move is one way that money of a funded account moves, as it was measured.
type move struct {
	name, request string
	figures
}

func (r results) moves() []move {
	var all []move
	for _, f := range r.payouts {
		all = append(all, move{"Payouts", "`POST /quotes/{id}/execute`", f})
	}
	for _, m := range []move{{"Transfers out", "`POST /transfer-out`", r.out}, {"Transfers in", "`POST /transfer-in`", r.in}} {
		if m.completed > 0 {
			all = append(all, m)
		}
	}
	return all
}

// besideMoves are the runs of pgbench before and after payouts and transfers.
func (r results) besideMoves() []float64 { return r.yardstick[max(0, len(r.yardstick)-2):] }

func (r results) moving(moves []move) section {
	s := section{
		title: "Payouts and transfers",
		prose: []string{
			fmt.Sprintf("From and to the internal accounts of %d customers, which hold money already. A payout is a quote (`POST /quotes`, dollars to bitcoin), "+
				"its execution, delivery, and the `COMPLETED` webhook; a transfer is one request that moves dollars to a bank account or pulls them from there, "+
				"until the `COMPLETED` webhook was accepted. Each also tells the new balance of the account, once for all that one commit changes in it. "+
				"Webhook: from the answer to that request on.", r.options.customers),
			fmt.Sprintf("`pgbench` ran before and after: %s transactions per second.", numbers(r.besideMoves(), " and ")),
		},
		head: []string{"What", "Under way", "Per second", "per pgbench tx", "From beginning to end, " + latencyHead, "`POST /quotes`", "Request that moves the money", "Webhook"},
	}
	for _, m := range moves {
		quoted := ""
		if m.quote != (latency{}) {
			quoted = m.quote.String()
		}
		s.rows = append(s.rows, []string{m.name, strconv.Itoa(m.inFlight), "**" + number(m.perSecond) + "**",
			fmt.Sprintf("**%.3f**", m.perSecond/mean(r.besideMoves())), m.whole.String(), quoted, m.request + " " + m.send.String(), m.webhook.String()})
	}
	return s
}

// moveSpending tells what each of them costs.
func (r results) moveSpending(moves []move) section {
	s := section{
		title: "What a payout and a transfer cost",
		head: []string{"What", "Under way", "Service", "Postgres", "Load generator", "Commits", "Transactions that write", "Syncs of the log", "Write-ahead log",
			"Processors that something else kept busy"},
	}
	for _, m := range moves {
		c := m.cost
		busy := fmt.Sprintf("%.2f", c.others)
		if warning := disturbed(c.others); warning != "" {
			busy += ", " + warning
		}
		s.rows = append(s.rows, []string{m.name, strconv.Itoa(m.inFlight), micros(c.server), micros(c.postgres), micros(c.generator), fmt.Sprintf("%.2f", c.commits),
			fmt.Sprintf("%.2f", c.writes), fmt.Sprintf("%.2f", c.walSyncs), fmt.Sprintf("%.1f kB", c.walBytes/1000), busy})
	}
	return s
}

func (r results) oneAccount() section {
	many, one := median(r.hot.many), median(r.hot.one)
	return section{
		title: "One hot account",
		prose: []string{
			"Payouts from the accounts of all customers and payouts all from one account took turns in short runs; the medians are compared.",
		},
		head: []string{"Figure", "Value", "Goal"},
		rows: [][]string{
			{fmt.Sprintf("Payouts/s, %d accounts", r.options.customers), numbers(r.hot.many, ", "), ""},
			{"Payouts/s, one account", numbers(r.hot.one, ", "), ""},
			{"One to many, medians", fmt.Sprintf("%.2f", one/many), fmt.Sprintf("at least %.0f %% of many: %s", 100*goalHot, met(one >= goalHot*many))},
		},
	}
}

// funds says what was found of the accounts, if any were funded.
func (c closing) funds() string {
	if c.accounts == 0 {
		return ""
	}
	return fmt.Sprintf("Each of the %d accounts holds, to the cent, what was paid into it less what was paid out. ", c.accounts)
}
