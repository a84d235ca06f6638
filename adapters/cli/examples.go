package cli

import (
	"reflect"
	"strings"

	"causeway/core/ident"

	"github.com/alecthomas/kong"
)

// Examples has an example of each command, for its help.
var Examples = map[string]string{
	"dev":               "causeway dev --listen 127.0.0.1:9000",
	"serve":             "causeway serve --listen 0.0.0.0:8080 --trusted-proxies 10.0.0.0/8",
	"migrate":           "causeway migrate --database-url postgres://causeway@db/causeway",
	"listen":            "causeway listen --forward-to http://localhost:3000/webhooks",
	"trigger":           "causeway trigger OUTGOING_PAYMENT.COMPLETED",
	"logs list":         "causeway logs list --follow --status 4xx,5xx",
	"logs show":         "causeway logs show RequestLog:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e55",
	"open":              "causeway open Transaction:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e33",
	"sandbox apply":     "causeway sandbox apply fixtures.yaml",
	"sandbox reset":     "causeway sandbox reset",
	"sandbox expire":    "causeway sandbox expire Quote:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e44",
	"sandbox settle":    "causeway sandbox settle Transaction:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e33",
	"sandbox return":    "causeway sandbox return Transaction:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e33",
	"sandbox take-back": "causeway sandbox take-back Transaction:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e33",
	"login":             "causeway login --public-url https://pay.example.com",
	"logout":            "causeway logout",
	"whoami":            "causeway whoami",
	"people invite":     "causeway people invite ana@example.com --name 'Ana Silva' --roles FINANCE,COMPLIANCE --actor cleo",
	"people list":       "causeway people list",
	"people set-roles":  "causeway people set-roles ana@example.com --roles VIEWER@PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11",
	"people link":       "causeway people link ana@example.com --actor cleo",
	"people disable":    "causeway people disable ana@example.com --actor cleo",
	"platform create":   "causeway platform create --name Acme --environment SANDBOX",
	"platform set": "causeway platform set --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --regulated " +
		"--actor ana",
	"platform revoke-uma-keys": "causeway platform revoke-uma-keys --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 " +
		"--actor ana",
	"platform list":         "causeway platform list",
	"platform uma-keys":     "causeway platform uma-keys --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11",
	"platform limits set":   "causeway platform limits set USD --customer each --per-payment 500000 --daily 1000000 --actor ana",
	"platform limits clear": "causeway platform limits clear USD --customer each --actor ana",
	"platform limits list":  "causeway platform limits list",
	"token create": "causeway token create --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --name " +
		"'Reports' --permissions VIEW",
	"token list":            "causeway token list --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11",
	"token set-responsible": "causeway token set-responsible Token:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e22 ana@example.com",
	"token delete":          "causeway token delete Token:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e22 --actor ana",
	"customers list":        "causeway customers list --deleted",
	"customers show":        "causeway customers show Customer:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e55",
	"customers hold":        "causeway customers hold Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b --reason 'Papers asked for' --actor ana",
	"customers release":     "causeway customers release Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b --reason 'Papers checked' --actor ana",
	"customers sca unlock": "causeway customers sca unlock Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b" +
		" --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --actor ana",
	"customers sca resets": "causeway customers sca resets --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11",
	"customers sca approve": "causeway customers sca approve ScaReset:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b" +
		" --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --actor ana",
	"customers sca reject": "causeway customers sca reject ScaReset:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b" +
		" --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --actor ana",
	"customers terms list":     "causeway customers terms list",
	"customers vasps list":     "causeway customers vasps list",
	"customers vasps import":   "causeway customers vasps import custodians.csv --dry-run --actor ana",
	"customers terms set":      "causeway customers terms set 2026-03 https://example.com/terms/2026-03 --actor ana",
	"customers erase":          "causeway customers erase Customer:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e55 --now --actor ana",
	"agents list":              "causeway agents list --waiting",
	"agents show":              "causeway agents show Agent:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4ea1",
	"documents list":           "causeway documents list Customer:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11",
	"documents show":           "causeway documents show Document:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e22 --file passport.jpg --actor ana",
	"corridors list":           "causeway corridors list --output json",
	"corridors set":            "causeway corridors set USD BTC --fee-percent 0.3% --note 'Agreed in March' --actor ana",
	"corridors reset":          "causeway corridors reset USD BTC",
	"corridors history":        "causeway corridors history USD BTC",
	"corridors proposals list": "causeway corridors proposals list --status PENDING",
	"corridors proposals show": "causeway corridors proposals show Proposal:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e44",
	"corridors approve":        "causeway corridors approve Proposal:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e44 --actor ben",
	"corridors reject": "causeway corridors reject Proposal:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e44 --actor ben --note 'Not " +
		"agreed'",
	"recover list":   "causeway recover list",
	"recover show":   "causeway recover show 1",
	"recover review": "causeway recover review 1 --note 'Compared with the statements of both banks' --actor ana",
	"backup verify":  "causeway backup verify --base-backup /mnt/backup/base --wal-archive /mnt/backup/wal --checkpoints /mnt/checkpoints",
	"backup list":    "causeway backup list",
	"rails list":     "causeway rails list",
	"rails show":     "causeway rails show bank-eur",
	"rails calendar": "causeway rails calendar bank-eur --year 2027",
	"rails set":      "causeway rails set bank-eur bank-eur.json --note 'Account at Example Bank' --actor ana",
	"rails test":     "causeway rails test bank-eur",
	"rails retire":   "causeway rails retire bank-eur --note 'The account is closed in June' --actor ana",
	"rails delete":   "causeway rails delete bank-eur --note 'The account is closed' --actor ana",
	"rails conform": "causeway rails conform --url https://sidecar.example.com/v1 --secret-file secret --currency EUR " +
		"--rail SEPA --account account.json",
	"rails conform-names":  "causeway rails conform-names --url https://names.example.com/v1 --secret-file secret --within 3s",
	"rails conform-sms":    "causeway rails conform-sms --url https://sms.example.com/v1 --secret-file secret --within 3s",
	"rails pause":          "causeway rails pause SEPA --note 'Incident 12' --actor ana",
	"rails resume":         "causeway rails resume SEPA --note 'Incident 12 is over' --actor ana",
	"rails history":        "causeway rails history bank-eur",
	"rails prove":          "causeway rails prove",
	"rails balance":        "causeway rails balance bank-eur --set 1000050 --currency EUR --note 'Statement of 1 March' --actor ana",
	"rails proposals list": "causeway rails proposals list --status PENDING",
	"rails proposals show": "causeway rails proposals show Proposal:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e44",
	"rails approve":        "causeway rails approve Proposal:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e44 --actor ben",
	"rails reject":         "causeway rails reject Proposal:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e44 --actor ben --note 'Another account'",
	"rails notices":        "causeway rails notices bank-eur",
	"rails inbox list":     "causeway rails inbox list --connection bank-eur",
	"rails inbox show":     "causeway rails inbox show 0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e61",
	"rails inbox retry":    "causeway rails inbox retry 0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e61",
	"rails inbox discard": "causeway rails inbox discard 0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e61 --note 'A test of the bank' " +
		"--actor ana",
	"rails statements list":  "causeway rails statements list",
	"rails statements show":  "causeway rails statements show 0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e62 --file statement.xml",
	"rails statements retry": "causeway rails statements retry 0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e62",
	"rails statements discard": "causeway rails statements discard 0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e62 --note 'Reconciled by hand' " +
		"--actor ana",
	"payouts list":      "causeway payouts list",
	"payouts review":    "causeway payouts review",
	"payouts queue":     "causeway payouts queue --connection bank-eur",
	"payouts unsettled": "causeway payouts unsettled --connection bank-eur",
	"payouts show":      "causeway payouts show Transaction:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e33",
	"payouts release": "causeway payouts release Transaction:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e33 --note 'Confirmed by " +
		"phone' --actor ana",
	"payouts withdraw": "causeway payouts withdraw Transaction:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e33 --note 'Wrong bank' " +
		"--actor ana",
	"payouts move": "causeway payouts move Transaction:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e33 --to acme-backup --note 'The " +
		"bank is closed' --actor ana",
	"payouts mark-not-sent": "causeway payouts mark-not-sent Transaction:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e33 --note 'The bank " +
		"has no such order' --actor ana",
	"payouts cancel": "causeway payouts cancel Transaction:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e33 --note 'Sent by mistake' " +
		"--actor ana",
	"demo":              "causeway demo",
	"ledger check":      "causeway ledger check",
	"ledger verify":     "causeway ledger verify --checkpoints /mnt/checkpoints",
	"ledger export":     "causeway ledger export --format csv --file 2026.csv --from 2026-01-01T00:00:00Z",
	"ledger rotate-key": "causeway ledger rotate-key",
	"ledger balances":   "causeway ledger balances",
	"ledger trial-balance": "causeway ledger trial-balance --by effective --from 2026-10-01T00:00:00Z --to 2026-11-01T00:00:00Z " +
		"--output csv",
	"ledger income":      "causeway ledger income --by effective --from 2026-01-01T00:00:00Z --output csv",
	"ledger fx-position": "causeway ledger fx-position --at 2026-10-31T23:59:59Z --reporting-currency EUR",
	"ledger unmatched":   "causeway ledger unmatched --assigned=false",
	"ledger assign": "causeway ledger assign Receipt:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --to PAYER --note 'Their account is " +
		"open again'",
	"ledger entries": "causeway ledger entries rails/RTP --currency USD --from 2026-10-01T00:00:00Z --output csv",
	"ledger postings": "causeway ledger postings --kind adjustment --from 2026-10-01T00:00:00Z --to 2026-11-01T00:00:00Z " +
		"--by effective --output csv",
	"ledger timeline":    "causeway ledger timeline Transaction:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e33 --output csv",
	"ledger breaks list": "causeway ledger breaks list --account rails/RTP --currency USD",
	"ledger breaks show": "causeway ledger breaks show Break:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11",
	"ledger breaks resolve": "causeway ledger breaks resolve Break:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --note 'Monthly fee, as " +
		"agreed' --against EXPENSE",
	"ledger reconcile": "causeway ledger reconcile --account rails/RTP --currency USD --file statement.xml",
	"ledger periods":   "causeway ledger periods --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11",
	"ledger soft-close": "causeway ledger soft-close 2026-10 --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 " +
		"--actor ana",
	"ledger reopen": "causeway ledger reopen 2026-10 --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 " +
		"--note 'A late invoice'",
	"ledger close": "causeway ledger close 2026-10 --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --note " +
		"Reviewed",
	"ledger settings show": "causeway ledger settings show --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11",
	"ledger settings set": "causeway ledger settings set functionalCurrency=USD fourEyes=ADJUSTMENT,CLOSE --platform " +
		"PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --actor ana",
	"ledger settings versions": "causeway ledger settings versions --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11",
	"ledger chart list":        "causeway ledger chart list --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11",
	"ledger chart add": "causeway ledger chart add expense/office-rent 'Office rent' --platform " +
		"PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --actor ana",
	"ledger chart change": "causeway ledger chart change expense/office-rent --retired true --platform " +
		"PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --actor ana --note 'The office was closed'",
	"ledger gl-mapping show": "causeway ledger gl-mapping show --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 " +
		"--output csv",
	"ledger gl-mapping set": "causeway ledger gl-mapping set gl-mapping.csv --base-version 0 --platform " +
		"PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --actor ana",
	"ledger gl-mapping versions": "causeway ledger gl-mapping versions --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11",
	"ledger revalue": "causeway ledger revalue 2026-10 --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 " +
		"--actor ana",
	"ledger exchange-result":  "causeway ledger exchange-result 2026-10 --detail conversions --output csv",
	"ledger exchange-changes": "causeway ledger exchange-changes --from 2026-10-01T00:00:00Z --to 2026-10-15T12:00:00Z",
	"ledger defer-fees": "causeway ledger defer-fees 2026-10 --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 " +
		"--actor ana",
	"ledger deferred-fees":  "causeway ledger deferred-fees 2026-10 --detail payments --output csv",
	"ledger journals":       "causeway ledger journals 2026-10 --program xero --folder journals --actor ana",
	"ledger recurring list": "causeway ledger recurring list",
	"ledger recurring set": "causeway ledger recurring set office-rent --entry 'expense/office-rent liability/accrued 1200.00 USD' " +
		"--reverses --first 2026-11 --note 'Rent, billed in the next month'",
	"ledger recurring end": "causeway ledger recurring end office-rent --last 2027-10",
	"ledger safeguarding": "causeway ledger safeguarding 2026-10-31 --acknowledge 'Moved 500.00 USD from own/OPERATING the same " +
		"day' --actor ana",
	"ledger sweep": "causeway ledger sweep --from rails/RTP --to own/OPERATING --amount '12.50 USD' --platform " +
		"PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11",
	"ledger receivables list": "causeway ledger receivables list --status OPEN",
	"ledger receivables show": "causeway ledger receivables show Receivable:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e33",
	"ledger receivables record": "causeway ledger receivables record Transaction:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e22 --reason-code " +
		"R01 --returned-at 2026-10-14T08:00:00Z --partner-id RET20261014000042 --actor ana",
	"ledger receivables write-off": "causeway ledger receivables write-off Receivable:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e33 --note 'The " +
		"customer cannot be reached' --actor ana",
	"ledger receivables post-allowance": "causeway ledger receivables post-allowance 2026-10",
	"ledger receivables allowance":      "causeway ledger receivables allowance 2026-10 --output csv",
	"ledger financial-statements":       "causeway ledger financial-statements 2026-10 --span year-to-date --pdf statements.pdf",
	"ledger receivables aging":          "causeway ledger receivables aging --output csv",
	"ledger treasury transfer": "causeway ledger treasury transfer --from own/OPERATING --to rails/WIRE --amount '500 USD' " +
		"--in-transit --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11",
	"ledger proposals list": "causeway ledger proposals list --status PENDING --platform " +
		"PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11",
	"ledger proposals show": "causeway ledger proposals show Proposal:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e44 --platform " +
		"PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11",
	"ledger proposals approve": "causeway ledger proposals approve Proposal:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e44 --platform " +
		"PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --actor ben",
	"ledger proposals reject": "causeway ledger proposals reject Proposal:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e44 --platform " +
		"PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --actor ben --note 'The bank has returned the fee'",
	"ledger treasury arrive": "causeway ledger treasury arrive Movement:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e33 --platform " +
		"PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11",
	"ledger treasury settle": "causeway ledger treasury settle --from rails/RTP --to chains/LAYER2 --amount '60 USD' --bought " +
		"'0.001 BTC' --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11",
	"ledger treasury list":    "causeway ledger treasury list --open",
	"ledger treasury purpose": "causeway ledger treasury purpose rails/ACH OWN --note 'Pre-funded by us'",
	"ledger opening-balances": "causeway ledger opening-balances balances.csv --as-of 2025-12-31 --platform " +
		"PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --actor ana",
	"ledger reverse-opening-balances": "causeway ledger reverse-opening-balances USD --platform " +
		"PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --actor ana --note 'The file lacked the loans'",
	"ledger years": "causeway ledger years --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11",
	"ledger close-year": "causeway ledger close-year 2026 --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 " +
		"--note 'The accounts are audited' --actor ana",
	"ledger reverse-year": "causeway ledger reverse-year 2026 --platform PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 " +
		"--note 'An invoice is missing' --actor ana",
	"ledger audit-pack":    "causeway ledger audit-pack 2026 --folder audit-2026 --checkpoints /mnt/checkpoints",
	"ledger archive":       "causeway ledger archive 2025-01 --actor ana",
	"ledger restore":       "causeway ledger restore 2025-01",
	"webhooks rotate-keys": "causeway webhooks rotate-keys --environment PRODUCTION --overlap 48h",
	"mails list":           "causeway mails list --status refused",
	"jobs list":            "causeway jobs list --state dead",
	"jobs retry":           "causeway jobs retry --all --step deliver",
	"jobs discard": "causeway jobs discard 0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --actor ana --reason 'Paid by hand, " +
		"ticket 17'",
	"reviews list": "causeway reviews list",
	"reviews show": "causeway reviews show Verification:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e55 --platform " +
		"PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11",
	"reviews approve": "causeway reviews approve Verification:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e55 --platform " +
		"PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --application 0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e66 --actor ana --reason 'Compared " +
		"with the passport'",
	"reviews reject": "causeway reviews reject BeneficialOwner:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e77 --platform " +
		"PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --application 0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e66 --type APPLICANT_FRAUD --actor " +
		"ana --reason 'The passport is forged'",
	"reviews clear": "causeway reviews clear Customer:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e55 --platform " +
		"PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --entry ofac:36 --actor ana --reason 'Born in another year, ticket 17'",
	"reviews confirm": "causeway reviews confirm BeneficialOwner:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e77 --platform " +
		"PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --entry eu:13 --actor ana --reason 'The same passport, ticket 17'",
	"reviews request": "causeway reviews request Verification:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e55 --platform " +
		"PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --application 0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e66 --field birthDate='Differs " +
		"from the passport' --problem EXPIRED_DOCUMENT='The passport is expired' --actor ana --reason 'Ticket 17'",
	"identity conformance": "causeway identity conformance --url https://identity.example.com/v1 --token-file token " +
		"--secret-file secret --listen 0.0.0.0:9100 --callback-url https://test.example.com/identity/decisions",
	"screening load":   "causeway screening load --list ofac sdn.xml --actor ana",
	"screening status": "causeway screening status",
	"wallets show": "causeway wallets show InternalAccount:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e99 --platform " +
		"PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11 --actor ana",
	"wallets verify": "causeway wallets verify payment.json --key " +
		"02a1633cafcc01ebfb6d78e39f687a1f0995c62fc95f51ead10a02ee0be551b5dc",
	"keys rotate":    "causeway keys rotate",
	"keys reencrypt": "causeway keys reencrypt",
	"keys list":      "causeway keys list",
	"keys remove":    "causeway keys remove 0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e44 --actor ana",
	"mcp serve":      "causeway mcp serve --url http://localhost:8080/2025-10-13",
	"mcp pair":       "causeway mcp pair AGENT-K7QF-M2XP --url http://localhost:8080/2025-10-13",
	"complete":       "causeway complete -- ledger ba",
	"openapi":        "causeway openapi --public-url https://pay.example.com",
	"completion":     "causeway completion bash",
	"version":        "causeway version",
}

// AddExamples adds the examples to the help of the commands.
func AddExamples(parser *kong.Kong) {
	for _, command := range parser.Model.Leaves(false) {
		if example := Examples[CommandPath(command)]; example != "" {
			command.Detail = strings.TrimPrefix(command.Detail+"\n\nExample: "+example, "\n\n")
		}
	}
}

// PlatformOf returns the platform that a parsed command names with --platform; zero for none.
func PlatformOf(command *kong.Node) (p ident.Platform) {
	for _, flag := range command.Flags {
		if flag.Name == "platform" && flag.Target.Kind() == reflect.String {
			p, _ = ident.ParsePlatform(flag.Target.String()) // the command reports what is no id
		}
	}
	return p
}

// CommandPath returns the words of a command after the name of the program.
func CommandPath(command *kong.Node) string {
	return strings.TrimPrefix(command.Path(), "causeway ")
}
