package cli

import (
	"io"
	"text/template"
)

// packReadme explains the files of an auditor's pack.
var packReadme = template.Must(template.New("README.txt").Parse(`Books of the financial year {{.Year}} ({{.First}} to {{.Last}}, UTC)
Platform: {{.Platform}}
Written by: causeway ledger audit-pack {{.Year}}

Months are by effective time, the time at which a posting counts for the parties. All months of the year are closed, so that
nothing can be posted into them. Amounts are in major units. Balances are debits minus credits: a liability is negative.
All files have the same bytes each time they are written from the same ledger, but for verification.txt, which has a time.

year.csv            the year's income, expense and result by currency, if the year was closed into retained earnings
trial-balance.csv   opening balance, debits, credits and closing balance of each account
general-ledger.csv  by account: opening balance, entries with the balance after each, closing balance
journals.csv        all entries in the order in which they were recorded
books.journal       the same, with opening balances, for hledger
closings/           of each closed month: the trial balance that was stored when it was closed (.csv); when, by whom, and
                    the number and digest of the last posting and the newest signed checkpoint at that time (.json)
ledger.log          all postings of the platform, of earlier and later years too: the content of the log of postings
evidence.log        hashes of what is recorded beside the postings: closings, authorisations, receipts, reconciliations
checkpoints.txt     signed checkpoints of both logs: those stored with the closings, and the newest ones
keys.txt            public keys that verify their signatures, newest first
proofs/             RFC 6962 proofs: that the log of each checkpoint of a closing is a prefix of the next one, and that the
                    postings that close the year are in the log
verification.txt    result of the program's own verification of the platform in the database, and of the two logs in this folder
MANIFEST.sha256     hashes of all these files

To check the files:

  sha256sum -c MANIFEST.sha256

To verify both logs with the program, on any machine and without a database:

  sed 's/^/--key=/' keys.txt | xargs causeway ledger verify --checkpoints checkpoints.txt --export ledger.log
  sed 's/^/--key=/' keys.txt | xargs causeway ledger verify --checkpoints checkpoints.txt --export evidence.log

Checkpoints and keys in this folder come from those who run the ledger. Use those that you received during the year, or from
somebody else, in their place: then the logs prove that nothing was changed since. To check the totals:

  hledger -f books.journal check
  hledger -f books.journal balance --flat

docs/auditing.md of Causeway describes the logs, the proofs, and how to verify them with other programs.
`))

func writePackReadme(out io.Writer, a *auditPack) error {
	y := a.year.Year
	return packReadme.Execute(out, struct{ Year, First, Last, Platform string }{y.String(), y.First().String(), y.Last().String(),
		a.platform.String()})
}
