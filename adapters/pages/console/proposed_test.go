package console

import (
	"strings"
	"testing"

	"causeway/core/books"
)

func TestProposals_ShowWhatIsApproved(t *testing.T) {
	t.Parallel()
	// Who approves sees amounts in their currency, accounts and months as links, and every other field by its name. The document as it is
	// stored is folded below.
	entries := `"entries":[{"debit":"expense/rails","credit":"rails/WIRE","currency":"USD","amount":200},` +
		`{"debit":"expense/rails","credit":"rails/WIRE","currency":"JPY","amount":300}]`
	wire := `<a href="` + base + `/entries?path=rails%2FWIRE&amp;currency=USD">rails/WIRE</a>`
	for name, test := range map[string]struct {
		operation, request, figures string
		wants                       []string
	}{
		"an adjustment": {"createLedgerAdjustment", `{` + entries + `,"note":"The <bank>","effectiveAt":"2026-02-01T00:00:00Z",` +
			`"corrects":"` + "Posting:" + postingID.String() + `","ownedAccounts":true}`, "", []string{"<h1>Post an adjustment ",
			`<td class="amount">2.00</td>`, `<td class="amount">300</td>`, "<td>" + wire + "</td>",
			"<dt>Reason</dt><dd>The &lt;bank&gt;</dd>",
			`<dt>Effective</dt><dd><time datetime="2026-02-01T00:00:00Z"`, `href="` + base + "/postings/" + postingID.String(),
			"<dt>Owned accounts</dt><dd>yes</dd>", "<details>", "&#34;amount&#34;: 200"}},
		"a month": {"closeLedgerPeriod", `{"month":"2026-02","withoutYearEnd":true}`, "", []string{"<h1>Close 2026-02 ",
			`<a href="` + base + `/trial-balance?by=effective&amp;month=2026-02">2026-02</a>`, "<dt>Without year end</dt><dd>yes</dd>"}},
		"an exchange result": {"postExchangeResult", `{"month":"2026-02"}`, `{"kind":"revaluation","run":1,"postings":[{"memo":"Result",` +
			`"effectiveAt":"2026-02-28T23:59:59Z",` + entries + `}],"functionalCurrency":"EUR","openingResult":-5,"realised":[{` +
			`"origin":"payments","currency":"JPY","amount":123}],"positions":[{"currency":"JPY","quantity":500,"cost":310,"rate":"0.0062",` +
			`"value":300,"unrealised":-10}]}`,
			[]string{"<h1>Post the exchange result of 2026-02 ", "<h2>What it comes to</h2>", "<h2>Posting 1 of 1</h2>",
				"<dt>Memo</dt><dd>Result</dd>", wire, "<dt>Opening result</dt><dd>-0.05 EUR</dd>", `<td>JPY</td><td class="amount">1.23 EUR</td>`,
				`<td class="amount">500</td><td class="amount">3.10 EUR</td>`, `<td class="amount">-0.10 EUR</td>`}},
		"an exchange of own money": {"createTreasuryTransfer", `{"from":"own/BANK","to":"own/FX","currency":"USD","amount":1000,` +
			`"boughtCurrency":"JPY","boughtAmount":1500}`, "", []string{"<dt>Amount</dt><dd>10.00 USD</dd>",
			"<dt>Bought amount</dt><dd>1500 JPY</dd>",
			`<dt>From</dt><dd><a href="` + base + `/entries?path=own%2FBANK&amp;currency=USD">`,
			`<dt>To</dt><dd><a href="` + base + `/entries?path=own%2FFX&amp;currency=JPY">`}},
		"a year": {"closeLedgerYear", `{"year":2026,"note":"Final"}`, `{"closing":1,"lastMonth":"2026-12","results":[{"currency":"USD",` +
			`"income":92233720368547758079,"expense":7,"result":92233720368547758072}]}`, []string{"<h1>Close the year 2026 ",
			`<td class="amount">922337203685477580.79</td>`, "month=2026-12"}},
		"an allowance": {"postReceivablesAllowance", `{"month":"2026-02"}`, `{"allowances":[{"currency":"USD","owed":[100,200,0,5],"rates":"1,2",` +
			`"before":0,"required":12}]}`, []string{"1.00 / 2.00 / 0.00 / 0.05", `<td class="amount">0.12</td>`}},
		"a purpose": {"setSafeguardingAccountPurpose", `{"account":"rails/WIRE","purpose":"SAFEGUARDING"}`, "", []string{
			`<a href="` + base + `/trial-balance?detail=account&amp;group=rails%2FWIRE">rails/WIRE</a>`, "<dt>Purpose</dt><dd>SAFEGUARDING</dd>"}},
		"a release": {"releaseRailPayment", `{"paymentId":"x"}`, `{"amount":"5.00 USD"}`, []string{"<dt>Payment</dt><dd>x</dd>",
			"<dt>Amount</dt><dd>5.00 USD</dd>"}},
		"an operation of later": {"rebuildLedger", `{"of":{"theAccount":"a"},"empty":[],"texts":["a","b"],"amount":5,"amounts":[{"n":7}]}`, "",
			[]string{"<h1>Rebuild ledger ", "<dt>Of</dt><dd>The account a</dd>", "<dt>Empty</dt><dd>none</dd>", "<dt>Texts</dt><dd>a, b</dd>",
				"<dt>Amount</dt><dd>5</dd>", `<td class="amount">7</td>`}},
	} {
		s := asFinance(t)
		p := &s.proposals.all[0]
		p.Operation, p.Request, p.Figures = test.operation, []byte(test.request), []byte(test.figures)
		got := s.get(base + "/proposals/" + proposalID.UUID().String())
		for _, want := range test.wants {
			if !strings.Contains(got.body, want) {
				t.Errorf("%s: no %s in %s", name, want, got.body)
			}
		}
		s.checkStructure(name, got)
	}
}

func TestProposals_ListedByWhatTheyDo(t *testing.T) {
	t.Parallel()
	// Three operations have the action CLOSE, and each has its own name.
	s := asFinance(t)
	for _, operation := range []string{"postDeferredFees", "postExchangeResult"} {
		p := newProposal()
		p.Action, p.Operation, p.Request = books.ActionClose, operation, []byte(`{"month":"2026-02"}`)
		s.proposals.all = append(s.proposals.all, p)
	}
	got := s.get(base + "/proposals")
	for _, want := range []string{">Post an adjustment</a>", ">Defer fees of 2026-02</a>", ">Post the exchange result of 2026-02</a>"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %s in %s", want, got.body)
		}
	}
}
