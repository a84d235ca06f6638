// Package faults tests that payments survive faults. Each scenario has payments of every kind in
// flight while processes and servers are killed, connections are cut, disks are full or clocks differ. Afterwards
// every accepted payment is final exactly once, the balances are what the responses add up to, and
// every event was delivered in order. The files:
//
//	scenarios_test.go  the faults
//	clock_test.go      the clock of a database that can be set
//	rails_test.go      a production platform whose payments go over one connection
//	bank_test.go       files of a bank of any kind, and a full disk of its folders
//	partner_test.go    events of a partner of any kind
//	failover_test.go   the drill: servers with Patroni that fail, make failover
//	failover_servers_test.go  which of its servers accept writes, and when each process pays
//	system_test.go     a database, its servers and the processes of the service
//	load_test.go       the workers, which repeat each request until its response is final
//	payments_test.go   the kinds of payments, and what each must lead to
//	receiver_test.go   the webhook endpoint
//	agents_test.go     agents at their limits, whose payments the platform approves or rejects
//	check_test.go      what must hold afterwards
package faults
