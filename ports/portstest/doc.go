// Package portstest holds the conformance tests of the ports, one function per port. The test
// of an adapter calls it with that adapter and adds its own cases. The package also has fakes
// and fixtures that the tests of several packages use.
package portstest
