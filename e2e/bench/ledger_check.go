package main

import "fmt"

func (r results) ledgerCheckSection() section {
	c := r.finalChecks
	return section{
		title: "Checking the books",
		prose: []string{
			"`causeway ledger check` recomputes from the postings alone what is stored beside them, all of the run and while the service is up. What it checked stands under “Afterwards”.",
		},
		columns: []string{"Figure", "Value"},
		rows: [][]string{
			{"Postings", fmt.Sprint(c.postings)},
			{"Time", formatDuration(c.ledgerCheck.duration)},
			{"Postings per second", formatRate(c.postings, c.ledgerCheck.duration)},
			{"Memory of the command at its largest", formatMB(c.ledgerCheck.peakMemory)},
		},
	}
}
