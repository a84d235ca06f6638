package main

import "fmt"

func (r results) checking() section {
	c := r.closing
	return section{
		title: "Checking the books",
		prose: []string{
			"`causeway ledger check` recomputes from the postings alone what is stored beside them, all of the run and while the service is up. What it checked stands under “Afterwards”.",
		},
		head: []string{"Figure", "Value"},
		rows: [][]string{
			{"Postings", fmt.Sprint(c.postings)},
			{"Time", lasting(c.check.took)},
			{"Postings per second", perSecond(c.postings, c.check.took)},
			{"Memory of the command at its largest", megabytes(c.check.peak)},
		},
	}
}
