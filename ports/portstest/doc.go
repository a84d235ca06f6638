// Package portstest holds what every adapter of a port must pass, one function a
// port. A test of an adapter calls it with that adapter, and adds what is its own. It
// also has the stand-ins for ports that tests of several use cases need, and what their
// houses are furnished with.
package portstest
