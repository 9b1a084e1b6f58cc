"""Measuring tools: `udp`, `tcp` and `sniff` are programs that run inside a node and print JSON; `runs` starts them from outside.

A program that waits for packets prints the line {"ready": true} first and its report last.
"""
